package binding

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

const (
	gateOfWeb       = corev1.PodConditionType("target-health.elbv2.k8s.aws/web")
	sharedGateOfWeb = corev1.PodConditionType("target-health.ownership.elbv2.k8s.aws/web")
	legacyGateOfWeb = corev1.PodConditionType("target-health.alb.ingress.k8s.aws/shop_web_80")
)

func withGates(o *controller.Options) { o.ReadinessGates = true }

// gatedSite has a Service that selects its Pods, and new targets that are not
// healthy until the test says so.
func gatedSite(t *testing.T) (*world, *site) {
	t.Helper()
	w := newWorld(t)
	w.sim.Configure(func(s *elbsim.Settings) { s.InitialFor = time.Hour })
	s := w.cluster("east")
	s.gated("web")
	return w, s
}

func (s *site) gated(service string) {
	s.t.Helper()
	made := serviceOf(service, corev1.ServicePort{Name: kube.ServicePortName, Port: kube.ServicePort, TargetPort: intstr.FromInt32(kube.TargetPort)})
	made.Spec.Selector = map[string]string{"app": service}
	s.has(made)
}

// pod runs a Pod of the Service web whose containers are ready. The slices and
// the condition Ready are written as the kubelet and the EndpointSlice
// controller write them.
func (s *site) pod(name, address string, gates ...corev1.PodConditionType) *corev1.Pod {
	s.t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
	}
	for _, t := range gates {
		p.Spec.ReadinessGates = append(p.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: t})
	}
	s.has(p)
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, Conditions: []corev1.PodCondition{
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady"},
	}}
	s.Expect(s.api.Client.Status().Update(s.t.Context(), p)).To(Succeed())
	s.slices()
	return p
}

// slices does the work of the kubelet and of the EndpointSlice controller once.
func (s *site) slices() {
	s.t.Helper()
	var pods corev1.PodList
	s.Expect(s.api.Client.List(s.t.Context(), &pods, client.InNamespace(s.namespace))).To(Succeed())
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: s.namespace, Name: "web-pods", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new(kube.ServicePortName), Port: new(int32(kube.TargetPort))}},
	}
	for _, p := range pods.Items {
		if p.Labels["app"] != "web" || p.Status.PodIP == "" {
			continue
		}
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{p.Status.PodIP},
			Conditions: discoveryv1.EndpointConditions{Ready: new(gatesOpen(&p))},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		})
	}
	err := s.api.Client.Create(s.t.Context(), slice.DeepCopy())
	if err != nil {
		err = s.api.Client.Update(s.t.Context(), slice)
	}
	s.Expect(err).NotTo(HaveOccurred())
}

func gatesOpen(p *corev1.Pod) bool {
	for _, g := range p.Spec.ReadinessGates {
		if c := conditionOf(p, g.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

func conditionOf(p *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == t {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// says is the status and reason of a condition of a Pod, such as True Healthy.
func (s *site) says(pod string, t corev1.PodConditionType) func() string {
	return func() string {
		p := &corev1.Pod{}
		if err := s.api.Client.Get(s.t.Context(), s.key(pod), p); err != nil {
			return err.Error()
		}
		c := conditionOf(p, t)
		if c == nil {
			return ""
		}
		return string(c.Status) + " " + c.Reason
	}
}

func (w *world) becomes(target string, state types.TargetHealthStateEnum) {
	w.t.Helper()
	w.Expect(w.sim.SetHealth(w.group.ARN, target, state)).To(Succeed())
}

// A Pod becomes ready once its target is healthy, stays so when it is not any
// more, and nothing is asked at rest.
func TestAPodWaitsForItsTarget(t *testing.T) {
	w, east := gatedSite(t)
	east.controls(withGates)
	east.binds("web")
	east.pod("first", "10.0.0.1", gateOfWeb)
	w.eventuallyGroup("10.0.0.1:8080") // although no slice calls it ready
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
	w.becomes("10.0.0.1:8080", "unhealthy")
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Target.FailedHealthChecks"))
	w.becomes("10.0.0.1:8080", "healthy")
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True Healthy"))

	w.Consistently(func() []string { return w.sim.Registered(w.group.ARN) }, time.Second).Should(ConsistOf("10.0.0.1:8080"), "until the slice says so too")
	east.slices()
	w.becomes("10.0.0.1:8080", "unhealthy")
	asked := w.sim.Count("east", "DescribeTargetHealth")
	w.Consistently(east.says("first", gateOfWeb), 4*time.Second).Should(Equal("True Healthy"))
	w.Expect(w.sim.Count("east", "DescribeTargetHealth")).To(Equal(asked), "calls at rest")
	w.expectGroup("10.0.0.1:8080")
}

// A Pod that waits is in the record of this binding. That another cluster has
// the same address registered, and healthy, says nothing about it.
func TestAnotherOwnersTargetDoesNotCount(t *testing.T) {
	w, east := gatedSite(t)
	west := w.cluster("west")
	west.runs("web", "10.0.0.1")
	west.binds("web")
	w.Expect(west.passOver("web")).To(Succeed())
	w.becomes("10.0.0.1:8080", "healthy")
	w.sim.Inject(elbsim.Rule{Action: "DeregisterTargets", Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	west.scales("web")
	w.Expect(west.passOver("web")).To(Succeed())
	w.Expect(keys(w.records()["west/"+west.namespace+"/web"].Releasing)).To(ConsistOf("10.0.0.1:8080"))

	east.controls(withGates)
	east.binds("web")
	east.pod("first", "10.0.0.1", gateOfWeb)
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Blocked"))
	w.Consistently(east.says("first", gateOfWeb), 3*time.Second).Should(Equal("False Blocked"))
}

func TestNothingToWaitFor(t *testing.T) {
	t.Run("binding deleted", func(t *testing.T) {
		w, east := gatedSite(t)
		east.controls(withGates)
		east.binds("web")
		east.pod("first", "10.0.0.1", gateOfWeb)
		w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
		east.deletes("web")
		w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True NoBinding"))
	})
	t.Run("no binding", func(t *testing.T) {
		w, east := gatedSite(t)
		east.controls(withGates)
		east.pod("first", "10.0.0.1", gateOfWeb)
		w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True NoBinding"))
	})
	t.Run("not selected any more", func(t *testing.T) {
		w, east := gatedSite(t)
		east.controls(withGates)
		east.binds("web")
		east.pod("first", "10.0.0.1", gateOfWeb)
		w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
		east.changesService("web", func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "other"} })
		w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True NotSelected"))
	})
	t.Run("group missing", func(t *testing.T) {
		w, east := gatedSite(t)
		east.controls(withGates)
		east.binds("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetGroupARN, b.Spec.TargetGroupName = "", "nosuch" })
		east.pod("first", "10.0.0.1", gateOfWeb)
		w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True GroupNotFound"))
	})
	t.Run("a kind that is not served", func(t *testing.T) {
		w, east := gatedSite(t)
		east.kind = kind.SharedTargetGroupBinding
		east.controls(withGates)
		east.pod("first", "10.0.0.1", gateOfWeb, sharedGateOfWeb)
		w.Eventually(east.says("first", sharedGateOfWeb)).Should(Equal("True NoBinding"))
		w.Consistently(east.says("first", gateOfWeb), time.Second).Should(BeEmpty())
	})
}

// A binding that cannot work blocks the rollout: the old Pods are in the group.
func TestABindingThatCannotWorkBlocks(t *testing.T) {
	w, east := gatedSite(t)
	east.controls(withGates)
	east.binds("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.VpcID = "vpc-ffffffffffffffff0" })
	east.pod("first", "10.0.0.1", gateOfWeb)
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False InvalidSpec"))
}

// Bindings of both kinds have one name, and a Pod waits for both.
func TestAPodWaitsForTwoBindings(t *testing.T) {
	w, east := gatedSite(t)
	other := w.creates(elbsim.Group{Name: "other"})
	east.controls(withGates, func(o *controller.Options) { o.Kinds = kind.All })
	beside := east.beside()
	east.binds("web")
	beside.binds("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetGroupARN = other.ARN })
	east.pod("first", "10.0.0.1", gateOfWeb, sharedGateOfWeb)
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
	w.Eventually(east.says("first", sharedGateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
	w.Expect(w.sim.SetHealth(other.ARN, "10.0.0.1:8080", "healthy")).To(Succeed())
	w.Eventually(east.says("first", sharedGateOfWeb)).Should(Equal("True Healthy"))
	w.Expect(east.says("first", gateOfWeb)()).To(Equal("False Elb.RegistrationInProgress"))
	w.Expect(w.sim.SetHealth(w.group.ARN, "10.0.0.1:8080", "healthy")).To(Succeed())
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True Healthy"))
}

func TestALegacyCondition(t *testing.T) {
	w, east := gatedSite(t)
	east.controls(withGates)
	east.binds("web", func(b *v1beta1.TargetGroupBinding) {
		b.OwnerReferences = []metav1.OwnerReference{{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: "shop", UID: "1"}}
	})
	east.pod("first", "10.0.0.1", legacyGateOfWeb)
	w.Eventually(east.says("first", legacyGateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
	w.becomes("10.0.0.1:8080", "healthy")
	w.Eventually(east.says("first", legacyGateOfWeb)).Should(Equal("True Healthy"))
}

// A controller that is restarted goes on where the other one was.
func TestPodsThatWaitOverARestart(t *testing.T) {
	w, east := gatedSite(t)
	stop := east.controls(withGates)
	east.binds("web")
	east.pod("first", "10.0.0.1", gateOfWeb)
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
	stop()
	w.becomes("10.0.0.1:8080", "healthy")
	east.controls(withGates)
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True Healthy"))
	w.expectGroup("10.0.0.1:8080")
}

// A load balancer that asks for fewer calls keeps Pods waiting, and gets fewer.
func TestPodsWaitWhileTheLoadBalancerThrottles(t *testing.T) {
	w, east := gatedSite(t)
	east.controls(withGates)
	east.binds("web")
	east.pod("first", "10.0.0.1", gateOfWeb)
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Elb.RegistrationInProgress"))
	w.sim.Inject(elbsim.Rule{Action: "DescribeTargetHealth", Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("False Throttled"))
	w.becomes("10.0.0.1:8080", "healthy")
	w.Consistently(east.says("first", gateOfWeb), 4*time.Second).Should(Equal("False Throttled"))
	w.sim.ClearRules()
	w.Eventually(east.says("first", gateOfWeb)).Should(Equal("True Healthy"))
}
