package binding

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

func notReady(address string) discoveryv1.Endpoint {
	e := ready(address)
	e.Conditions.Ready = new(false)
	return e
}

func on(node string, e discoveryv1.Endpoint) discoveryv1.Endpoint {
	e.NodeName = &node
	return e
}

// An endpoint that terminates and serves still stays for the hold, counted from
// when it was first seen so, and no longer than it serves.
func TestAHoldOfEndpointsThatServe(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runsInSlices("web", readyAll("10.0.0.1", "10.0.0.2", "10.0.0.3"))
	east.binds("web", policies("hold-serving", "20s"))
	east.reconciles("web")
	all := at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")
	w.expectGroup(all...)

	gone := terminating("10.0.0.3")
	gone.Conditions.Serving = new(false)
	east.changesSlice("web-0", terminating("10.0.0.1"), ready("10.0.0.2"), terminating("10.0.0.3"), terminating("10.0.0.4"))
	w.Expect(east.reconciles("web").RequeueAfter).To(BeNumerically("~", 20*time.Second, time.Second))
	w.expectGroup(all...) // and not 10.0.0.4, which was no target

	w.passes(15 * time.Second)
	east.changesSlice("web-0", terminating("10.0.0.1"), ready("10.0.0.2"), gone)
	w.Expect(east.reconciles("web").RequeueAfter).To(BeNumerically("~", 5*time.Second, time.Second))
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)

	w.passes(5 * time.Second)
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.2")...)
	w.passes(time.Minute)
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2")...)
}

// When everything turns not ready at once, as many stay as the minimum says, and
// a person is told. What has gone leaves.
func TestAMinimumOfTargets(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runsInSlices("web", readyAll("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"))
	east.binds("web", policies("minimum", "50%"))
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")...)

	east.changesSlice("web-0", notReady("10.0.0.1"), notReady("10.0.0.2"), notReady("10.0.0.3"), notReady("10.0.0.4"), notReady("10.0.0.5"))
	east.settles("web")
	held := east.held("web")
	w.Expect(held).To(HaveLen(3), "half of five, and a part counts as one")
	w.expectGroup(held...)
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "3 of 3 targets registered", "3 of them not ready and kept for "+v1beta1.MinimumAnnotation)

	east.changesSlice("web-0", notReady("10.0.0.1"), ready("10.0.0.4"))
	east.settles("web")
	w.expectGroup(at8080("10.0.0.4")...) // one of two is ready, and is half

	east.changesSlice("web-0")
	east.settles("web")
	w.expectGroup()
}

// Without a minimum the binding does as Kubernetes says.
func TestWithoutAMinimumNothingStaysThatIsNotReady(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runsInSlices("web", readyAll("10.0.0.1", "10.0.0.2"))
	east.binds("web")
	east.reconciles("web")
	east.changesSlice("web-0", notReady("10.0.0.1"), notReady("10.0.0.2"))
	east.settles("web")
	w.expectGroup()
}

// With an externalTrafficPolicy of Local, nodes without a ready endpoint drop
// what arrives, and are no targets, unless the binding says otherwise.
func TestNodesWithEndpoints(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.runsOnNodePort("web", 0)
	port := int(east.service("web").Spec.Ports[0].NodePort)
	east.node("i-0a")
	east.node("i-0b")
	node := func(instance string) string { return east.namespace + "-" + instance }
	east.has(sliceOf("web-0", "web", 8080, on(node("i-0a"), ready("10.0.0.1"))))
	east.binds("web", east.onOwnNodes)
	east.reconciles("web")
	w.expectGroup(at(port, "i-0a", "i-0b")...)

	east.changesService("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal })
	east.settles("web")
	w.expectGroup(at(port, "i-0a")...)

	east.changesSlice("web-0", on(node("i-0a"), terminating("10.0.0.1")), on(node("i-0b"), ready("10.0.0.2")))
	east.settles("web")
	w.expectGroup(at(port, "i-0b")...)

	east.edits("web", policies("nodes", "All"))
	east.settles("web")
	w.expectGroup(at(port, "i-0a", "i-0b")...)

	east.changesService("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster })
	east.edits("web", policies("nodes", "Local"))
	east.settles("web")
	w.expectGroup(at(port, "i-0b")...)
}
