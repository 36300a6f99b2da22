package binding

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
)

// policies are the annotations of a binding: pairs of the rest of a name and a
// value. Others go.
func policies(pairs ...string) edit {
	return func(b *v1beta1.TargetGroupBinding) {
		b.Annotations = map[string]string{}
		for pair := range slices.Chunk(pairs, 2) {
			b.Annotations[v1beta1.AnnotationPrefix+pair[0]] = pair[1]
		}
	}
}

func handOver(to *site, name string) edit {
	return policies("deletion-policy", "HandOver", "hand-over-to", to.owner(name))
}

// From the first pod that the new owner has to the last, and one that ends
// before it is taken over.
func TestABindingHandsItsTargetsOver(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	trail := east.keepsHistory()
	east.runs("web", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")
	east.binds("web", handOver(west, "web"))
	east.reconcilesLater("web")
	west.runs("web", "10.0.0.1", "10.0.0.2")
	west.binds("web")

	gaps := w.watchForGaps(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3"), east, west)
	east.deletes("web")
	after := east.reconciles("web").RequeueAfter
	w.Expect(after).To(And(BeNumerically(">=", 30*time.Second), BeNumerically("<=", 33*time.Second)))
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver,
		west.owner("web")+" holds 0 of 4", "4 stay in the group", v1beta1.DeletionPolicyAnnotation+" is Delete or Retain")

	west.reconciles("web")
	east.reconcilesLater("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver, "holds 2 of 4", "2 stay in the group")
	east.expectRecord("web", at8080("10.0.0.3", "10.0.0.4"), nil)
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")...)

	east.scales("web", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	east.reconcilesLater("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver, "holds 2 of 4", "1 have no endpoint any more", "1 stay")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)

	west.scales("web", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	west.reconciles("web")
	east.reconcilesLater("web")
	east.expectGone("web")
	east.expectNoRecord("web")
	gaps.expectNone()
	east.expectRemovals(1)
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)
	w.Expect(w.history(trail)[3:]).To(Equal([]string{
		"east web",
		"  releasing [10.0.0.1:8080 10.0.0.2:8080]: the binding is deleted, and " + west.owner("web") + " holds the target",
		"  kept [10.0.0.1:8080 10.0.0.2:8080]: another owner holds it (west)",
		"east web",
		"  releasing [10.0.0.4:8080]: the endpoint is gone",
		"  deregistered [10.0.0.4:8080]: no other owner holds it",
		"  released [10.0.0.4:8080]: deregistered",
		"east web",
		"  releasing [10.0.0.3:8080]: the binding is deleted, and " + west.owner("web") + " holds the target",
		"  kept [10.0.0.3:8080]: another owner holds it (west)",
	}))
}

// The other kind of binding of the same cluster takes over, as when bindings
// move from one kind to the other.
func TestABindingHandsOverToOneOfTheOtherKind(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	beside := east.beside()
	east.runs("web", pods(1, 3)...)
	east.binds("web", handOver(beside, "web"))
	east.reconciles("web")
	gaps := w.watchForGaps(at8080(pods(1, 3)...), east, beside)
	east.deletes("web")
	east.settles("web")
	beside.binds("web")
	beside.reconciles("web")
	east.settles("web")
	east.expectGone("web")
	gaps.expectNone()
	beside.expectRecord("web", at8080(pods(1, 3)...), nil)
	east.expectRemovals(0)
}

// Each look of a binding that waits is one query, and nothing else.
func TestWhatWaitingForANewOwnerCosts(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", pods(1, 3)...)
	east.binds("web", handOver(west, "web"))
	east.reconciles("web")
	east.deletes("web")
	east.reconciles("web")
	east.forget()
	w.passes(east.reconciles("web").RequeueAfter)
	east.reconciles("web")
	east.expectCalls(map[string]int{"Query": 2})
}

// The Service went with the binding: then nobody can say which endpoints are
// there, and all wait. Another policy ends that.
func TestAHandOverWithoutAServiceIsEndedByAPolicy(t *testing.T) {
	for value, group := range map[string][]string{
		v1beta1.DeletionPolicyRetain: at8080(pods(1, 3)...),
		v1beta1.DeletionPolicyDelete: {},
	} {
		t.Run(value, func(t *testing.T) {
			w := newWorld(t)
			east, west := w.cluster("east"), w.cluster("west")
			to := handOver(west, "web")
			east.runs("web", pods(1, 3)...)
			east.binds("web", to)
			east.reconciles("web")
			east.Expect(east.api.Client.Delete(t.Context(), east.service("web"))).To(Succeed())
			east.scales("web")
			east.deletes("web")
			east.settles("web")
			east.restarts() // and of a process that knew nothing before
			east.settles("web")
			w.expectGroup(at8080(pods(1, 3)...)...)
			east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver, "holds 0 of 3")

			east.edits("web", to, func(b *v1beta1.TargetGroupBinding) { b.Annotations[v1beta1.DeletionPolicyAnnotation] = value })
			east.settles("web")
			east.expectGone("web")
			w.expectGroup(group...)
		})
	}
}

// A cache that shows no endpoint is not believed.
func TestAHandOverConfirmsThatEndpointsAreGone(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", pods(1, 5)...)
	east.binds("web", handOver(west, "web"))
	east.reconciles("web")
	east.deletes("web")
	east.fails(emptyList("discovery.k8s.io/v1", "EndpointSliceList"), "cached LIST endpointslices")
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver, "5 stay")
	w.expectGroup(at8080(pods(1, 5)...)...)
	east.expectRemovals(0)

	// Nor is an API server that gives no answer.
	east.fails(kubernetesSays(500, "InternalError"), "cached LIST endpointslices", "live LIST endpointslices")
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver, "5 stay")
	w.expectGroup(at8080(pods(1, 5)...)...)
}

// The new owner lets go between the look that saw it and the flag. What it
// took out is registered again, and waits for it as before.
func TestANewOwnerThatLetsGoDoesNotGetTheTarget(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1")
	east.binds("web", handOver(west, "web"))
	east.reconciles("web")
	west.runs("web", "10.0.0.1")
	west.binds("web")
	west.reconciles("web")
	east.deletes("web")
	once := true
	east.disturbs(func(call string) fault {
		if call == "PutItem" && once {
			once = false
			west.scales("web")
			west.reconciles("web")
		}
		return nil
	})
	east.reconciles("web")
	w.Expect(once).To(BeFalse())
	east.calm()
	east.settles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectRecord("web", at8080("10.0.0.1"), nil)
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonHandingOver, "holds 0 of 1")
	east.expectRemovals(0)
	west.expectRemovals(0)
}

// Nothing is taken in while the cluster is retired, and to wait can mean to
// register what is missing.
func TestARetiredClusterHandsNothingOver(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1")
	east.binds("web", handOver(west, "web"))
	east.reconciles("web")
	east.gate.closed = &cluster.RetiredError{ID: east.id}
	east.deletes("web")
	east.reconciles("web")
	east.expectReason("web", v1beta1.ReasonClusterRetired)
	east.expectRecord("web", at8080("10.0.0.1"), nil)
	w.expectGroup("10.0.0.1:8080")
}

// A hand-over that cannot be is told while the binding lives, and changes
// nothing.
func TestAHandOverThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*site) edit
		says string
	}{
		"to itself":   {func(s *site) edit { return handOver(s, "web") }, "this binding itself"},
		"to nobody":   {func(*site) edit { return policies("deletion-policy", "HandOver") }, v1beta1.HandOverToAnnotation + " is missing"},
		"to no owner": {func(*site) edit { return policies("deletion-policy", "HandOver", "hand-over-to", "west") }, "CLUSTER/NAMESPACE/NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web")
			east.reconciles("web")
			east.edits("web", c.edit(east))
			east.scales("web", "10.0.0.2")
			east.reconciles("web")
			east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonInvalidSpec, c.says, "nothing is registered or taken out")
			w.expectGroup("10.0.0.1:8080")
			east.deletes("web")
			east.settles("web")
			w.expectGroup("10.0.0.1:8080")
		})
	}
}
