package binding

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

// runsInSlices gives the site a Service with one slice for each list.
func (s *site) runsInSlices(service string, lists ...[]discoveryv1.Endpoint) {
	s.t.Helper()
	s.has(serviceOf(service, corev1.ServicePort{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}))
	for i, list := range lists {
		s.has(sliceOf(fmt.Sprintf("%s-%d", service, i), service, 8080, list...))
	}
}

// changes the endpoints of one of the slices.
func (s *site) changesSlice(name string, endpoints ...discoveryv1.Endpoint) {
	s.t.Helper()
	slice := &discoveryv1.EndpointSlice{}
	s.Expect(s.api.Client.Get(s.t.Context(), s.key(name), slice)).To(Succeed())
	slice.Endpoints = endpoints
	s.Expect(s.api.Client.Update(s.t.Context(), slice)).To(Succeed())
}

func readyAll(addresses ...string) []discoveryv1.Endpoint {
	var list []discoveryv1.Endpoint
	for _, a := range addresses {
		list = append(list, ready(a))
	}
	return list
}

func TestCase21EndpointsMoveBetweenSlicesWithoutFlapping(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runsInSlices("web", readyAll("10.0.0.1", "10.0.0.2"), readyAll("10.0.0.3"))
	east.binds("web")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)

	east.forget()
	east.changesSlice("web-1", readyAll("10.0.0.3", "10.0.0.2")...) // in two slices at once
	east.reconciles("web")
	east.changesSlice("web-0", readyAll("10.0.0.1")...)
	east.reconciles("web")
	east.expectCalls(map[string]int{})
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)
	east.expectCounts("web", v1beta1.TargetCounts{Held: 3})
}

func TestCase22ASliceIsEnoughToRegisterAPod(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	unseen := ready("10.0.0.1")
	unseen.TargetRef = &corev1.ObjectReference{Kind: "Pod", Namespace: east.namespace, Name: "not-in-any-cache", UID: "1"}
	east.runsInSlices("web", []discoveryv1.Endpoint{unseen})
	east.binds("web")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
}

func TestCase23FifteenHundredPods(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.sim.ConfigureGroup(w.group.ARN, func(s *elbsim.Settings) { s.Quota = 3000 })).To(Succeed())
	east := w.cluster("east")
	all := pods(1, 1500)
	var lists [][]discoveryv1.Endpoint
	for chunk := range slices.Chunk(all, 100) {
		lists = append(lists, readyAll(chunk...))
	}
	east.runsInSlices("web", lists...)
	east.binds("web")
	east.reconciles("web")
	w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(1500))
	w.Expect(east.count()).To(And(HaveKeyWithValue("RegisterTargets", 8), HaveKeyWithValue("PutItem", 1)))
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "1500 of 1500")

	east.forget()
	east.deletes("web")
	east.reconciles("web")
	w.expectGroup()
	w.Expect(east.count()).To(And(HaveKeyWithValue("DeregisterTargets", 8), HaveKeyWithValue("PutItem", 2)))
}

func TestCase24NodesThatCannotBeTargets(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.runsOnNodePort("web", 0)
	port := int(east.service("web").Spec.Ports[0].NodePort)
	east.node("i-0a")
	east.node("i-0b")
	east.node("none", func(n *corev1.Node) { n.Spec.ProviderID = "" })
	east.node("fargate", func(n *corev1.Node) {
		n.Labels["eks.amazonaws.com/compute-type"] = "fargate"
		n.Spec.ProviderID = "aws:///us-east-1a/0123456789-0123456789abcdef/fargate-ip-10-0-0-1"
	})
	east.node("hybrid", func(n *corev1.Node) { n.Spec.ProviderID = "eks-hybrid:///us-east-1/east/mi-0123456789" })
	east.node("i-0dead", func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
	})
	east.node("i-0excluded", func(n *corev1.Node) { n.Labels[corev1.LabelNodeExcludeBalancers] = "true" })
	east.binds("web", east.onOwnNodes)
	for range 3 {
		east.reconciles("web")
	}
	w.expectGroup(at(port, "i-0a", "i-0b")...)
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "2 of 2")
	skipped := "Warning EndpointSkipped: node " + east.namespace
	east.expectEvents(skipped+"-fargate", skipped+"-hybrid", skipped+"-i-0dead", skipped+"-none")
}

// A node that the control plane cannot hear serves on: it stays a target, also
// for a controller that has just started, and does not become one.
func TestCase24ANodeThatIsNotReadyStaysIfItIsATarget(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.runsOnNodePort("web", 0)
	port := int(east.service("web").Spec.Ports[0].NodePort)
	east.node("i-0a")
	east.binds("web", east.onOwnNodes)
	east.reconciles("web")
	east.cannotHear("i-0a")
	east.node("i-0b")
	east.cannotHear("i-0b")
	east.reconciles("web")
	east.restarts()
	east.settles("web")
	w.expectGroup(at(port, "i-0a")...)
	east.expectRemovals(0)
}

// cannotHear has the control plane lose contact with the node.
func (s *site) cannotHear(instance string) {
	s.t.Helper()
	s.changesNode(instance, func(c *corev1.NodeCondition) { c.Status = corev1.ConditionUnknown })
}

// changesNode changes whether the node is ready.
func (s *site) changesNode(instance string, change func(*corev1.NodeCondition)) {
	s.t.Helper()
	node := &corev1.Node{}
	s.Expect(s.api.Client.Get(s.t.Context(), client.ObjectKey{Name: s.namespace + "-" + instance}, node)).To(Succeed())
	change(&node.Status.Conditions[0])
	s.Expect(s.api.Client.Status().Update(s.t.Context(), node)).To(Succeed())
}

func TestCase25ANewTargetPortLeavesNoGap(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.reconciles("web")
	least := 2
	cancel := w.sim.Observe(func(m elbsim.Mutation) { least = min(least, len(elbsim.Registered(m.Targets))) })
	defer cancel()

	east.changesService("web", func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromInt32(9090) })
	slice := sliceOf("web-ipv4", "web", 9090, readyAll("10.0.0.1", "10.0.0.2")...)
	slice.Namespace = east.namespace
	w.Expect(east.api.Client.Update(t.Context(), slice)).To(Succeed())
	east.reconciles("web")
	w.expectGroup(at(9090, "10.0.0.1", "10.0.0.2")...)
	w.Expect(least).To(Equal(2))
}

func TestCase26TerminatingPodsLeaveAtOnce(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runsInSlices("web", append(readyAll("10.0.0.1", "10.0.0.2"), notReady("10.0.0.3")))
	east.binds("web")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
	east.changesSlice("web-0", ready("10.0.0.1"), terminating("10.0.0.2"), ready("10.0.0.3"))
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.3")...)
}

// People hear of each trouble once, of its end, and of nothing else.
func TestEventsForPeople(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	for i := range 5 {
		east.scales("web", pods(i, i+1)...)
		east.reconciles("web")
	}
	east.scales("web")
	east.reconciles("web")
	east.expectEvents()

	east.scales("web", "10.0.0.1")
	w.elbSays(elbsim.AccessDenied(), "RegisterTargets")
	for range 3 {
		east.reconciles("web")
	}
	east.expectEvents("Warning AccessDenied: 0 of 1 targets registered; 10.0.0.1:8080: ")
	w.sim.ClearRules()
	w.elbSays(elbsim.Throttled(), "RegisterTargets")
	east.reconciles("web")
	east.expectEvents("Warning Throttled: ")
	w.sim.ClearRules()
	east.reconciles("web")
	east.reconciles("web")
	east.expectEvents("Normal Reconciled: 1 of 1 targets registered")

	east.deletes("web")
	east.reconciles("web")
	east.expectEvents()
}
