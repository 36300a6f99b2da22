package chart

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/action"
	helmkube "helm.sh/helm/v4/pkg/kube"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
	"target-ownership-controller/test/collector"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/table"
)

const (
	shop    = "shop"
	crdFile = chartDir + "/files/crds/elbv2.k8s.aws_targetgroupbindings.yaml"
)

// TestInstall installs the chart with Helm into a real API server, in which the
// CRD of somebody else is. Two controllers then run with the arguments of the
// Deployment and tokens of its service account, over the real SDKs, and do all
// that a controller does. In the end Helm uninstalls the chart, after its hook
// has released all targets.
//
// What the roles and the IAM policy allow is what was used, neither less nor
// more.
func TestInstall(t *testing.T) {
	s := &site{WithT: NewWithT(t), t: t}
	s.patience()
	s.cluster = kube.ForTest(t, kube.Options{Name: "east", Audit: true, Scheme: scheme(t)})
	s.helm = helmOf(t, s.cluster)
	s.sim = elbsim.New(elbsim.Options{Region: table.Region})
	_, err := s.sim.Start()
	s.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.sim.Close)
	web, err := s.sim.CreateGroup(elbsim.Group{Name: "web", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: elbsim.TargetTypeIP})
	s.Expect(err).NotTo(HaveOccurred())
	engine := table.Kumo.Start(t)
	made, traces := &calls{seen: map[string]bool{}}, collector.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "test") // for the job
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	v := values{
		"clusterID": "east", "region": table.Region, "table": engine.Name,
		"dynamodbEndpoint": made.record(t, engine.Endpoint), "elbv2Endpoint": s.sim.URL(),
		"elbReadRate": "1000:1000", "elbMutationRate": "1000:1000",
		"comparePeriod": "10s", "heartbeatPeriod": "1s",
		"bindingKinds":            []any{kind.TargetGroupBinding.Name, kind.SharedTargetGroupBinding.Name},
		"bindingsFromAnnotations": true,
		"readinessGates":          values{"enabled": true},
		"webhooks":                values{"enabled": true},
		"image":                   values{"repository": "registry.example.com/controller"},
		"extraEnv": []any{
			values{"name": "AWS_ACCESS_KEY_ID", "value": "east"},
			values{"name": "AWS_SECRET_ACCESS_KEY", "value": "test"},
			values{"name": "AWS_EC2_METADATA_DISABLED", "value": "true"},
		},
		// No other cluster is there to serve, so that it has to be forced.
		"releaseOnUninstall": values{"enabled": true, "force": true},
		"tracing":            values{"endpoint": traces.URL},
	}

	s.hasCRDOfOthers()
	s.Expect(s.install(v)).To(MatchError(ContainSubstring("invalid ownership metadata")))
	s.Expect(s.install(v, func(i *action.Install) { i.TakeOwnership, i.ForceConflicts = true, true })).To(Succeed())
	s.Expect(s.crd().Spec.Versions).To(HaveLen(2), "ours")

	program := buildController(t)
	// The second reads as from an API server that cannot stream lists.
	first, second := s.start(program), s.start(program, "KUBE_FEATURE_WatchListClient=false")
	s.ready(first)
	s.ready(second)
	s.Eventually(s.leader).ShouldNot(BeEmpty())
	s.trusted()
	s.calls(second, web)

	s.doesItsWork(web)

	leader, standby := first, second
	if !s.leads(first) {
		leader, standby = second, first
	}
	was := s.leader()
	s.ends(leader)
	s.Expect(traces.Roots()).To(ContainElement(HaveField("Name", "pass")), "sent before the end")
	s.Eventually(s.leader).ShouldNot(Or(BeEmpty(), Equal(was)))
	s.serves(web, "10.0.0.7", "10.0.0.8")

	s.ends(standby)
	s.loses(kind.TargetGroupBinding, "lost")
	s.loses(kind.SharedTargetGroupBinding, "beside")
	s.start(program)
	s.Eventually(func() []string { return s.sim.Registered(web.ARN) }).Should(ConsistOf("10.0.0.7:8080", "10.0.0.8:8080"))

	granted := granted(t, s.cluster)
	used := used(t, s.cluster, granted)
	s.Expect(cmp.Diff(sorted(granted), sorted(used))).To(BeEmpty(), "- is granted and not used")

	s.uninstalls(web)
	// There are no rules of group tags here, for which alone tags are read.
	called := append(made.all(s.sim.Journal()), "elasticloadbalancing:DescribeTags on anything")
	s.Expect(called).To(ConsistOf(allowed(t)), "what is called is what the policy allows")
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, kind.TargetGroupBinding.AddToScheme, kind.SharedTargetGroupBinding.AddToScheme, apiextensionsv1.AddToScheme} {
		NewWithT(t).Expect(add(all)).To(Succeed())
	}
	return all
}

// hasCRDOfOthers leaves a CRD in the cluster as kubectl or another chart does.
func (s *site) hasCRDOfOthers() {
	s.t.Helper()
	text, err := os.ReadFile(crdFile)
	s.Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	s.Expect(yaml.UnmarshalStrict(text, crd)).To(Succeed())
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return !v.Storage })
	crd.Spec.Versions[0].AdditionalPrinterColumns = nil
	s.Expect(s.cluster.Client.Create(s.t.Context(), crd, client.FieldOwner("kubectl-create"))).To(Succeed())
}

func (s *site) crd() *apiextensionsv1.CustomResourceDefinition {
	s.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	s.Expect(s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Name: "targetgroupbindings.elbv2.k8s.aws"}, crd)).To(Succeed())
	return crd
}

// leader is who holds the lease.
func (s *site) leader() string {
	s.t.Helper()
	lease := &coordinationv1.Lease{}
	err := s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: releaseName + "-leader"}, lease)
	if apierrors.IsNotFound(err) {
		return ""
	}
	s.Expect(err).NotTo(HaveOccurred())
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// leads tells by the log, since both replicas have the name of this host.
func (s *site) leads(r *replica) bool {
	s.t.Helper()
	log, err := os.ReadFile(r.Log)
	s.Expect(err).NotTo(HaveOccurred())
	return strings.Contains(string(log), "Successfully acquired lease")
}

// doesItsWork has one binding that serves, one of endpoints that cannot be
// targets, and one that is deleted.
func (s *site) doesItsWork(web elbsim.Group) {
	s.t.Helper()
	ctx := s.t.Context()
	s.Expect(s.cluster.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: shop, Labels: map[string]string{"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"},
	}})).To(Succeed())
	s.hasService("web")
	s.binds("web", web)
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("10.0.1.%d", i+1)
	}
	s.serves(web, many...)
	s.Eventually(func() string { return s.reason("web") }).Should(Equal(string(v1beta1.ReasonReconciled)))
	s.Expect(s.binding("web").Finalizers).NotTo(BeEmpty())
	s.Expect(s.binding("web").Status.Targets).NotTo(BeNil())
	s.serves(web, "10.0.0.7")

	s.hasService("names")
	s.hasNames("names", "one", "two")
	s.binds("names", web)
	skipped := func() []string { return s.events("names") }
	s.Eventually(skipped).Should(HaveLen(2))
	// Gone and back, and gone and back again while the binding stays as it is.
	for i, other := range []string{"three", "four"} {
		s.Expect(s.cluster.Client.Delete(ctx, &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "two"}})).To(Succeed())
		s.hasNames("names", other)
		s.Eventually(skipped).Should(HaveLen(3 + 2*i))
		s.hasNames("names", "two")
		if i == 0 {
			s.Eventually(skipped).Should(HaveLen(4))
		}
	}
	s.Eventually(skipped).Should(ContainElement("EndpointSkipped, again"))

	s.hasService("lost")
	s.Expect(s.cluster.SetEndpoints(ctx, shop, "lost", "10.0.2.1")).To(Succeed())
	s.binds("lost", web)
	s.Eventually(func() string { return s.reason("lost") }).Should(Equal(string(v1beta1.ReasonReconciled)))

	s.hasService("beside")
	s.Expect(s.cluster.SetEndpoints(ctx, shop, "beside", "10.0.3.1")).To(Succeed())
	s.bindsAs(kind.SharedTargetGroupBinding, "beside", web)
	s.Eventually(func() []string { return s.sim.Registered(web.ARN) }).Should(ContainElement("10.0.3.1:8080"))
	s.Eventually(func() *v1beta1.TargetCounts {
		return s.bindingAs(kind.SharedTargetGroupBinding, "beside").Status.Targets
	}).ShouldNot(BeNil())

	s.annotates(web)
	s.gates(web)

	s.binds("gone", web)
	s.Eventually(func() []string { return s.events("gone") }).Should(ContainElement("ServiceNotFound"))
	s.Expect(s.cluster.Client.Delete(ctx, s.binding("gone"))).To(Succeed())
	s.Eventually(func() error {
		return s.cluster.Client.Get(ctx, client.ObjectKey{Namespace: shop, Name: "gone"}, &v1beta1.TargetGroupBinding{})
	}).Should(Satisfy(apierrors.IsNotFound))
}

// annotates has an Ingress whose annotations make a binding, until its class is
// another one.
func (s *site) annotates(web elbsim.Group) {
	s.t.Helper()
	ctx := s.t.Context()
	for name, controller := range map[string]string{"ours": managed.OwnClassController, "other": "example.com/other"} {
		s.Expect(s.cluster.Client.Create(ctx, &networkingv1.IngressClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controller},
		})).To(Succeed())
	}
	ingress := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: "annotated", Annotations: map[string]string{
			managed.IngressSharedAnnotation: "true", managed.TargetGroupsAnnotation: web.Name,
		}},
		Spec: networkingv1.IngressSpec{IngressClassName: new("ours"), DefaultBackend: &networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: "annotated", Port: networkingv1.ServiceBackendPort{Name: kube.ServicePortName}},
		}},
	}
	s.hasService("annotated")
	s.Expect(s.cluster.SetEndpoints(ctx, shop, "annotated", "10.0.4.1")).To(Succeed())
	s.Expect(s.cluster.Client.Create(ctx, ingress)).To(Succeed())
	s.Eventually(func() []string { return s.sim.Registered(web.ARN) }).Should(ContainElement("10.0.4.1:8080"))
	ingress.Spec.IngressClassName = new("other")
	s.Expect(s.cluster.Client.Update(ctx, ingress)).To(Succeed())
	s.Eventually(func() []string { return s.sim.Registered(web.ARN) }).ShouldNot(ContainElement("10.0.4.1:8080"))
}

// hasNames makes a Service of names, which cannot be targets.
func (s *site) hasNames(service string, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.Expect(s.cluster.Client.Create(s.t.Context(), &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: shop, Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
			AddressType: discoveryv1.AddressTypeFQDN,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{name + ".example.com"}}},
			Ports:       []discoveryv1.EndpointPort{{Name: new(kube.ServicePortName), Port: new(int32(kube.TargetPort))}},
		})).To(Succeed())
	}
}

// loses has a binding go while no controller runs, without its finalizer.
func (s *site) loses(k kind.Kind, name string) {
	s.t.Helper()
	b := s.object(k, name)
	before := b.DeepCopyObject().(client.Object)
	b.SetFinalizers(nil)
	s.Expect(s.cluster.Client.Patch(s.t.Context(), b, client.MergeFrom(before))).To(Succeed())
	s.Expect(s.cluster.Client.Delete(s.t.Context(), b)).To(Succeed())
}

func serviceOf(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: name}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Name: kube.ServicePortName, Port: kube.ServicePort, TargetPort: intstr.FromInt32(kube.TargetPort)}},
	}}
}

func (s *site) hasService(name string) {
	s.t.Helper()
	s.Expect(s.cluster.Client.Create(s.t.Context(), serviceOf(name))).To(Succeed())
}

func (s *site) binds(name string, group elbsim.Group) {
	s.t.Helper()
	s.bindsAs(kind.TargetGroupBinding, name, group)
}

func (s *site) bindsAs(k kind.Kind, name string, group elbsim.Group) {
	s.t.Helper()
	object := k.New()
	object.SetNamespace(shop)
	object.SetName(name)
	k.Binding(object).Spec = v1beta1.TargetGroupBindingSpec{
		TargetGroupName: group.Name, MultiClusterTargetGroup: true,
		ServiceRef: v1beta1.ServiceReference{Name: name, Port: intstr.FromString(kube.ServicePortName)},
	}
	s.Expect(s.cluster.Client.Create(s.t.Context(), object)).To(Succeed())
}

func (s *site) bindingAs(k kind.Kind, name string) *v1beta1.TargetGroupBinding {
	s.t.Helper()
	return k.Binding(s.object(k, name))
}

func (s *site) object(k kind.Kind, name string) client.Object {
	s.t.Helper()
	object := k.New()
	s.Expect(s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Namespace: shop, Name: name}, object)).To(Succeed())
	return object
}

// serves makes these addresses ready, and waits for the group to have them.
func (s *site) serves(group elbsim.Group, addresses ...string) {
	s.t.Helper()
	s.Expect(s.cluster.SetEndpoints(s.t.Context(), shop, "web", addresses...)).To(Succeed())
	want := make([]any, len(addresses))
	for i, a := range addresses {
		want[i] = fmt.Sprintf("%s:%d", a, kube.TargetPort)
	}
	s.Eventually(func() []string { return s.sim.Registered(group.ARN) }).Should(ContainElements(want...))
}

func (s *site) reason(name string) string {
	s.t.Helper()
	for _, c := range s.binding(name).Status.Conditions {
		if c.Type == string(v1beta1.ConditionReady) {
			return c.Reason
		}
	}
	return ""
}

func (s *site) events(name string) []string {
	s.t.Helper()
	var list eventsv1.EventList
	s.Expect(s.cluster.Client.List(s.t.Context(), &list, client.InNamespace(shop))).To(Succeed())
	var all []string
	for _, e := range list.Items {
		switch {
		case e.Regarding.Name != name:
		case e.Series != nil:
			all = append(all, e.Reason+", again")
		default:
			all = append(all, e.Reason)
		}
	}
	return all
}

// uninstalls has the hook release the targets; the CRD and the bindings stay.
func (s *site) uninstalls(web elbsim.Group) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	s.runJobs(ctx)
	uninstall := action.NewUninstall(s.helm)
	uninstall.WaitStrategy, uninstall.Timeout = helmkube.LegacyStrategy, 3*time.Minute
	_, err := uninstall.Run(releaseName)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.sim.Registered(web.ARN)).To(BeEmpty())
	s.Expect(s.binding("web").Finalizers).NotTo(BeEmpty())
	s.Expect(s.crd().Annotations).To(HaveKeyWithValue("helm.sh/resource-policy", "keep"))
	err = s.cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: releaseName}, &appsv1.Deployment{})
	s.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
