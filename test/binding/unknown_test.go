package binding

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

// A new leader whose caches hold a part of what there is, then all of it.
func TestCase3PartlyFilledCachesRemoveNothing(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", pods(1, 3)...)
	east.has(sliceOf("web-2", "web", 8080, ready("10.1.0.9")))
	east.binds("web")
	east.reconciles("web")
	all := append(at8080(pods(1, 3)...), "10.1.0.9:8080")

	east.restarts()
	east.fails(oneSlice("web-2", "web", "10.1.0.9"), "cached LIST endpointslices")
	east.reconciles("web")
	w.expectGroup(all...)
	east.expectRecord("web", all, nil)
	w.Expect(east.count()).To(HaveKeyWithValue("live LIST endpointslices", 1))
	east.calm()
	east.reconciles("web")
	w.expectGroup(all...)
	east.expectRemovals(0)

	// What the API server itself says is gone leaves.
	east.scales("web", pods(1, 2)...)
	east.settles("web")
	w.expectGroup(append(at8080(pods(1, 2)...), "10.1.0.9:8080")...)
}

func TestCase4FailedReadsRemoveNothing(t *testing.T) {
	faults := map[string]fault{
		"timeout":          timeout,
		"forbidden":        kubernetesSays(403, "Forbidden"),
		"internal error":   kubernetesSays(500, "InternalError"),
		"404 of a proxy":   answer(404, "404 page not found"),
		"no such resource": kubernetesSays(404, "NotFound"),
	}
	reads := map[string]string{"services": "GET services", "slices": "LIST endpointslices"}
	for what, read := range reads {
		for how, f := range faults {
			if what == "services" && how == "no such resource" {
				continue // this is how the API server says that there is no such Service
			}
			t.Run(what+", "+how, func(t *testing.T) {
				w := newWorld(t)
				east := w.cluster("east")
				east.runs("web", pods(1, 4)...)
				east.binds("web")
				east.reconciles("web")

				east.scales("web", pods(1, 1)...)
				east.fails(f, "cached "+read, "live "+read)
				east.reconciles("web")
				w.expectGroup(at8080(pods(1, 4)...)...)
				east.expectReady("web", metav1.ConditionUnknown, v1beta1.ReasonEndpointsUnknown, "service "+east.namespace+"/web")
				east.expectCounts("web", v1beta1.TargetCounts{Held: 4})

				// The cache has recovered, the confirmation fails.
				east.fails(f, "live "+read)
				east.reconciles("web")
				w.expectGroup(at8080(pods(1, 4)...)...)
				east.expectRecord("web", at8080(pods(1, 4)...), nil)
				east.expectCounts("web", v1beta1.TargetCounts{Held: 4})

				east.calm()
				east.reconciles("web")
				w.expectGroup(at8080(pods(1, 1)...)...)
				east.expectReconciled("web")
			})
		}
	}
}

// The Kubernetes client tries ten times after a reset, a second apart.
func TestCase4AResetConnectionRemovesNothing(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", pods(1, 4)...)
	east.binds("web")
	east.reconciles("web")
	east.scales("web", pods(1, 3)...)
	east.fails(connectionReset, "live LIST endpointslices")
	east.reconciles("web")
	w.expectGroup(at8080(pods(1, 4)...)...)
	east.expectReady("web", metav1.ConditionUnknown, v1beta1.ReasonEndpointsUnknown, "connection reset")
}

func TestCase4AnEmptyPageIsNotBelievedAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		read  string
		empty fault
	}{
		"slices":  {"LIST endpointslices", emptyList("discovery.k8s.io/v1", "EndpointSliceList")},
		"service": {"GET services", kubernetesSays(404, "NotFound")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1", "10.0.0.2")
			east.binds("web")
			east.reconciles("web")
			east.scales("web", "10.0.0.2")
			east.reconciles("web") // the first removal, which every process confirms

			east.fails(once(test.empty), "cached "+test.read)
			east.reconciles("web")
			w.expectGroup("10.0.0.2:8080")
			east.expectReconciled("web")
			east.expectRemovals(1)

			east.calm()
			east.scales("web")
			east.reconciles("web")
			w.expectGroup()
		})
	}
}

func TestCase4UnreadableNodesRemoveNothing(t *testing.T) {
	for name, f := range map[string]fault{"timeout": timeout, "forbidden": kubernetesSays(403, "Forbidden"), "empty": once(emptyList("v1", "NodeList"))} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
			east := w.cluster("east")
			east.runsOnNodePort("web", 0)
			port := int(east.service("web").Spec.Ports[0].NodePort)
			east.node("i-0a")
			east.binds("web", east.onOwnNodes)
			east.reconciles("web")
			east.fails(f, "cached LIST nodes")
			east.reconciles("web")
			w.expectGroup(at(port, "i-0a")...)
			east.expectRemovals(0)
			east.calm()
			east.reconciles("web")
			east.expectReconciled("web")
		})
	}
}

// A cache that has lost the binding itself is no word on its targets either.
func TestCase4ABindingThatACacheLostKeepsItsTargets(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.fails(kubernetesSays(404, "NotFound"), "cached GET targetgroupbindings")
	w.Expect(east.reconciles("web").RequeueAfter).NotTo(BeZero())
	w.expectGroup("10.0.0.1:8080")
	east.expectRecord("web", at8080("10.0.0.1"), nil)
	east.calm()
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectReconciled("web")
}

// Case 13, while the process lives: somebody strips the finalizer.
func TestABindingWithoutItsFinalizerIsFinishedAllTheSame(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.edits("web", func(b *v1beta1.TargetGroupBinding) { b.Finalizers = nil })
	east.deletes("web")
	east.expectGone("web")
	east.reconciles("web")
	w.expectGroup()
	east.expectNoRecord("web")
}

func TestAFinalizerThatIsTakenAwayComesBack(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.edits("web", func(b *v1beta1.TargetGroupBinding) { b.Finalizers = nil })
	east.reconciles("web")
	w.Expect(east.binding("web").Finalizers).To(ConsistOf(v1beta1.Finalizer))
}

func TestAMissingServiceWantsNothing(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	w.Expect(east.api.Client.Delete(t.Context(), east.service("web"))).To(Succeed())
	east.reconciles("web")
	w.expectGroup()
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonServiceNotFound, "serviceRef.name")
	east.expectEvents("Warning ServiceNotFound: ")
}
