package chart

import (
	"crypto/x509"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/webhook"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// trusted expects that the API server is told to trust what the webhooks show
// under the name of their Service.
func (s *site) trusted() {
	s.t.Helper()
	s.Eventually(func(g Gomega) {
		secret := &corev1.Secret{}
		g.Expect(s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: webhook.SecretName}, secret)).To(Succeed())
		shown, err := cert.ParseCertsPEM(secret.Data["tls.crt"])
		g.Expect(err).NotTo(HaveOccurred())
		hooks := s.configuration().Webhooks
		g.Expect(hooks).To(HaveLen(3), "two kinds of bindings, and Pods")
		for _, h := range hooks {
			roots, err := cert.NewPoolFromBytes(h.ClientConfig.CABundle)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = shown[0].Verify(x509.VerifyOptions{DNSName: releaseName + "-webhooks." + namespace + ".svc", Roots: roots})
			g.Expect(err).NotTo(HaveOccurred())
		}
	}).Should(Succeed())
}

func (s *site) configuration() *admissionv1.MutatingWebhookConfiguration {
	s.t.Helper()
	c := &admissionv1.MutatingWebhookConfiguration{}
	s.Expect(s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Name: webhook.ConfigurationName}, c)).To(Succeed())
	return c
}

// calls has the API server call a replica, since nothing here routes to Services,
// and waits until bindings of both kinds get what their group says.
func (s *site) calls(r *replica, web elbsim.Group) {
	s.t.Helper()
	s.Eventually(func() error {
		c := s.configuration()
		for i := range c.Webhooks {
			how := &c.Webhooks[i].ClientConfig
			how.URL, how.Service = new("https://"+r.webhooks+*how.Service.Path), nil
		}
		return s.cluster.Client.Update(s.t.Context(), c)
	}).Should(Succeed())
	for _, k := range kind.All {
		s.Eventually(func() *v1beta1.TargetType {
			o := k.New()
			o.SetNamespace("default")
			o.SetName("probe")
			k.Binding(o).Spec = v1beta1.TargetGroupBindingSpec{TargetGroupARN: web.ARN, ServiceRef: v1beta1.ServiceReference{Name: "web", Port: intstr.FromInt32(80)}}
			s.Expect(s.cluster.Client.Create(s.t.Context(), o, client.DryRunAll)).To(Succeed())
			return k.Binding(o).Spec.TargetType
		}).Should(HaveValue(Equal(v1beta1.TargetTypeIP)), k.Name)
	}
}

// gates has a Pod that gets its gate, and waits for its target.
func (s *site) gates(web elbsim.Group) {
	s.t.Helper()
	ctx := s.t.Context()
	gate := corev1.PodConditionType("target-health.elbv2.k8s.aws/gated")
	service := serviceOf("gated")
	service.Spec.Selector = map[string]string{"app": "gated"}
	s.Expect(s.cluster.Client.Create(ctx, service)).To(Succeed())
	s.binds("gated", web)
	var pod *corev1.Pod
	s.Eventually(func() []corev1.PodReadinessGate {
		pod = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: shop, GenerateName: "gated-", Labels: service.Spec.Selector},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
		}
		s.Expect(s.cluster.Client.Create(ctx, pod)).To(Succeed())
		return pod.Spec.ReadinessGates
	}).Should(Equal([]corev1.PodReadinessGate{{ConditionType: gate}}))

	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.5.1", PodIPs: []corev1.PodIP{{IP: "10.0.5.1"}}, Conditions: []corev1.PodCondition{
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady"},
	}}
	s.Expect(s.cluster.Client.Status().Update(ctx, pod)).To(Succeed())
	s.Expect(s.cluster.Client.Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: shop, Name: "gated", Labels: map[string]string{discoveryv1.LabelServiceName: "gated"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new(kube.ServicePortName), Port: new(int32(kube.TargetPort))}},
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(false)},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: shop, Name: pod.Name, UID: pod.UID},
		}},
	})).To(Succeed())
	s.Eventually(func() []corev1.PodCondition {
		s.Expect(s.cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
		return pod.Status.Conditions
	}).Should(ContainElement(And(HaveField("Type", gate), HaveField("Status", corev1.ConditionTrue))))
	s.Expect(s.cluster.Client.Delete(ctx, s.binding("gated"))).To(Succeed())
}
