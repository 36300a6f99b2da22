package binding

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/allow"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/webhook"
	"target-ownership-controller/test/child"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// hooks are the webhooks of a site, with the objects that an installation makes
// for them. The API server sends them what is made in the namespace of the site.
type hooks struct {
	*site
	options webhook.Options
}

func (s *site) hooks(kinds ...kind.Kind) *hooks {
	s.t.Helper()
	h := &hooks{site: s, options: webhook.Options{
		Address:       child.Address(s.t),
		Secret:        client.ObjectKey{Namespace: s.namespace, Name: webhook.SecretName},
		Configuration: s.namespace, // one for all sites of the API server
	}}
	s.has(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: webhook.SecretName}})
	configuration := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}, Webhooks: []admissionv1.MutatingWebhook{
		h.hook("gates", webhook.GatesPath, admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
		}),
	}}
	for _, k := range append(kinds, s.kind) {
		configuration.Webhooks = append(configuration.Webhooks, h.hook(k.Resource, webhook.DefaultsPath(k), admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: []string{k.Version.Group}, APIVersions: []string{k.Version.Version}, Resources: []string{k.Resource}},
		}))
	}
	s.Expect(s.api.Client.Create(s.t.Context(), configuration)).To(Succeed())
	s.t.Cleanup(func() {
		s.Expect(s.api.Client.Delete(context.WithoutCancel(s.t.Context()), configuration)).To(Succeed())
	})
	return h
}

func (h *hooks) hook(name, path string, rule admissionv1.RuleWithOperations) admissionv1.MutatingWebhook {
	return admissionv1.MutatingWebhook{
		Name:                    name + ".ownership.elbv2.k8s.aws",
		ClientConfig:            admissionv1.WebhookClientConfig{URL: new("https://" + h.options.Address + path)},
		Rules:                   []admissionv1.RuleWithOperations{rule},
		FailurePolicy:           new(admissionv1.Fail), // so that a call that failed is seen
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: h.namespace}},
		SideEffects:             new(admissionv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}
}

// serves runs the controller with the webhooks, until they are called.
func (h *hooks) serves(edits ...func(*controller.Options)) (stop func()) {
	h.t.Helper()
	m := h.managerOptions()
	m.Cache.ByObject = h.options.Caches()
	stop = h.controlsIn(m, append(edits, withGates, func(o *controller.Options) { o.Webhooks = &h.options })...)
	h.Eventually(func() error {
		_, err := h.creates(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: podSpec()}, client.DryRunAll)
		return err
	}).WithPolling(200*time.Millisecond).Should(Succeed(), "the API server trusts the webhooks")
	return stop
}

// creates makes an object as a user does, and returns the warnings that the user
// sees.
func (h *hooks) creates(o client.Object, options ...client.CreateOption) (string, error) {
	h.t.Helper()
	heard := &warnings{}
	config := rest.CopyConfig(h.api.Config)
	config.WarningHandlerWithContext = nil
	config.WarningHandler = heard
	user, err := client.New(config, client.Options{Scheme: h.api.Client.Scheme()})
	h.Expect(err).NotTo(HaveOccurred())
	o.SetNamespace(h.namespace)
	err = user.Create(h.t.Context(), o, options...)
	return strings.Join(*heard, "\n"), err
}

type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}
}

func (h *hooks) gatesOf(name string, labels map[string]string, given ...corev1.PodConditionType) []corev1.PodConditionType {
	h.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: podSpec()}
	for _, t := range given {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: t})
	}
	_, err := h.creates(pod)
	h.Expect(err).NotTo(HaveOccurred())
	var gates []corev1.PodConditionType
	for _, g := range pod.Spec.ReadinessGates {
		gates = append(gates, g.ConditionType)
	}
	return gates
}

// Pods get the gates of the bindings that select them, and keep what they bring.
func TestNewPodsGetTheirGates(t *testing.T) {
	w, east := gatedSite(t)
	h := east.hooks(kind.SharedTargetGroupBinding)
	h.serves(func(o *controller.Options) { o.Kinds = kind.All })
	east.binds("web")
	east.beside().binds("web")
	web := map[string]string{"app": "web"}
	w.Eventually(func() []corev1.PodConditionType {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "seen", Labels: web}, Spec: podSpec()}
		_, err := h.creates(pod, client.DryRunAll)
		w.Expect(err).NotTo(HaveOccurred())
		var gates []corev1.PodConditionType
		for _, g := range pod.Spec.ReadinessGates {
			gates = append(gates, g.ConditionType)
		}
		return gates
	}).Should(Equal([]corev1.PodConditionType{gateOfWeb, sharedGateOfWeb}), "once the controller has seen the bindings")
	w.Expect(h.gatesOf("with-others", web, "example.com/warm", sharedGateOfWeb)).To(Equal([]corev1.PodConditionType{"example.com/warm", sharedGateOfWeb, gateOfWeb}))
	w.Expect(h.gatesOf("of-another-app", map[string]string{"app": "api"})).To(BeEmpty())
	w.Expect(h.gatesOf("without-labels", nil)).To(BeEmpty())
}

// What a new binding leaves out is that of its group.
func TestNewBindingsGetTheirDefaults(t *testing.T) {
	w := newWorld(t)
	nodes := w.creates(elbsim.Group{Name: "nodes", TargetType: elbsim.TargetTypeInstance})
	odd := w.creates(elbsim.Group{Name: "odd", VPCID: "vpc-1"})
	east := w.cluster("east")
	h := east.hooks(kind.SharedTargetGroupBinding)
	h.serves(func(o *controller.Options) { o.Kinds = kind.All })

	for name, c := range map[string]struct {
		kind     kind.Kind
		edits    []edit
		want     string
		warnings string
	}{
		"by-arn":         {kind.TargetGroupBinding, nil, "ip ipv4 vpc-0123456789abcdef0", ""},
		"by-name":        {kind.TargetGroupBinding, []edit{toGroup("", "web")}, "ip ipv4 vpc-0123456789abcdef0", ""},
		"of-nodes":       {kind.TargetGroupBinding, []edit{toGroup(nodes.ARN, "")}, "instance ipv4 vpc-0123456789abcdef0", ""},
		"odd-vpc":        {kind.TargetGroupBinding, []edit{toGroup(odd.ARN, "")}, "ip ipv4 -", ""},
		"node-selector":  {kind.TargetGroupBinding, []edit{func(b *v1beta1.TargetGroupBinding) { b.Spec.NodeSelector = &metav1.LabelSelector{} }}, "- ipv4 vpc-0123456789abcdef0", ""},
		"quic":           {kind.TargetGroupBinding, []edit{toGroup(nodes.ARN, ""), func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetGroupProtocol = new(v1beta1.ProtocolQUIC) }}, "- ipv4 vpc-0123456789abcdef0", ""},
		"beside":         {kind.SharedTargetGroupBinding, nil, "ip ipv4 vpc-0123456789abcdef0", ""},
		"as-it-says":     {kind.TargetGroupBinding, []edit{withType(v1beta1.TargetTypeInstance)}, "instance ipv4 vpc-0123456789abcdef0", ""},
		"group-missing":  {kind.TargetGroupBinding, []edit{toGroup(ofNobody, "")}, "- - -", "defaults are not filled in, and not needed: spec.targetGroupARN: look up target group"},
		"other-region":   {kind.TargetGroupBinding, []edit{toGroup(strings.Replace(ofNobody, elbRegion, "us-east-2", 1), "")}, "- - -", "is in region us-east-2"},
		"no-such-schema": {kind.TargetGroupBinding, []edit{toGroup("nonsense", "")}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := c.kind.New()
			o.SetName(name)
			b := c.kind.Binding(o)
			b.Spec = v1beta1.TargetGroupBindingSpec{TargetGroupARN: w.group.ARN, MultiClusterTargetGroup: true, ServiceRef: v1beta1.ServiceReference{Name: "web", Port: intstr.FromString(kube.ServicePortName)}}
			for _, change := range c.edits {
				change(b)
			}
			said, err := h.creates(o)
			if c.want == "" {
				g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(defaultsOf(c.kind.Binding(o))).To(Equal(c.want))
			if c.warnings == "" {
				g.Expect(said).To(BeEmpty())
			} else {
				g.Expect(said).To(ContainSubstring(c.warnings))
			}
		})
	}
}

func withType(t v1beta1.TargetType) edit {
	return func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetType = &t }
}

func defaultsOf(b *v1beta1.TargetGroupBinding) string {
	or := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	targetType, family := "", ""
	if b.Spec.TargetType != nil {
		targetType = string(*b.Spec.TargetType)
	}
	if b.Spec.IPAddressType != nil {
		family = string(*b.Spec.IPAddressType)
	}
	return fmt.Sprint(or(targetType), " ", or(family), " ", or(b.Spec.VpcID))
}

// A manifest that leaves the defaults out can replace the binding, although the
// fields cannot be removed. AWS is not asked.
func TestAReplacedBindingKeepsItsDefaults(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.hooks().serves()
	east.runs("web", "10.0.0.1")
	east.binds("web")
	w.eventuallyGroup("10.0.0.1:8080")
	asked := east.count()["DescribeTargetGroups"]
	w.Eventually(func() error {
		b := east.binding("web")
		b.Spec.TargetType, b.Spec.IPAddressType, b.Spec.VpcID = nil, nil, ""
		return east.api.Client.Update(t.Context(), b)
	}).Should(Succeed())
	w.Expect(defaultsOf(east.binding("web"))).To(Equal("ip ipv4 vpc-0123456789abcdef0"))
	w.Expect(east.count()["DescribeTargetGroups"]).To(Equal(asked))
}

// Who may not bind a group is not told what kind of group it is.
func TestDefaultsTellNothingOfOthersGroups(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	h := east.hooks()
	nothing := filepath.Join(t.TempDir(), "allowed-groups.yaml")
	w.Expect(os.WriteFile(nothing, []byte("[]"), 0o600)).To(Succeed())
	rules, err := allow.Open(nothing)
	w.Expect(err).NotTo(HaveOccurred())
	h.serves(func(o *controller.Options) { o.Allowed = rules })
	b := &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Name: "web", Finalizers: []string{v1beta1.Finalizer}}}
	b.Spec = v1beta1.TargetGroupBindingSpec{TargetGroupName: "web", ServiceRef: v1beta1.ServiceReference{Name: "web", Port: intstr.FromString(kube.ServicePortName)}}
	said, err := h.creates(b)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(defaultsOf(b)).To(Equal("- - -"))
	w.Expect(said).To(ContainSubstring("may not bind target group"))
}

// The leader keeps the certificate, whoever spoils it.
func TestTheCertificateIsRepaired(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	h := east.hooks()
	h.serves()
	first := h.shows()
	accepted := func() error {
		_, err := h.creates(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: podSpec()}, client.DryRunAll)
		return err
	}
	secret := &corev1.Secret{}
	w.Expect(east.api.Client.Get(t.Context(), h.options.Secret, secret)).To(Succeed())
	secret.Data = map[string][]byte{"tls.crt": []byte("spoilt"), "note": []byte("somebody's")}
	w.Expect(east.api.Client.Update(t.Context(), secret)).To(Succeed())
	w.Eventually(h.shows).ShouldNot(Or(BeEmpty(), Equal(first)))
	w.Eventually(accepted).Should(Succeed())
	w.Expect(east.api.Client.Get(t.Context(), h.options.Secret, secret)).To(Succeed())
	w.Expect(secret.Data).To(HaveKeyWithValue("note", []byte("somebody's")))

	configuration := &admissionv1.MutatingWebhookConfiguration{}
	w.Expect(east.api.Client.Get(t.Context(), client.ObjectKey{Name: h.options.Configuration}, configuration)).To(Succeed())
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.CABundle = nil
	}
	w.Expect(east.api.Client.Update(t.Context(), configuration)).To(Succeed())
	w.Eventually(func() []byte {
		w.Expect(east.api.Client.Get(t.Context(), client.ObjectKey{Name: h.options.Configuration}, configuration)).To(Succeed())
		return configuration.Webhooks[0].ClientConfig.CABundle
	}).ShouldNot(BeEmpty())
	w.Eventually(accepted).Should(Succeed())
}

// shows is the serial number of the certificate that the server shows; empty if
// it shows none.
func (h *hooks) shows() string {
	connection, err := tls.Dial("tcp", h.options.Address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return ""
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0].SerialNumber.String()
}
