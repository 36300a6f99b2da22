package binding

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
)

// withPolicy says what is to become of the targets when the binding goes.
func withPolicy(value string) edit {
	return func(b *v1beta1.TargetGroupBinding) {
		b.Annotations = map[string]string{v1beta1.DeletionPolicyAnnotation: value}
	}
}

// gaps are the calls at which a target was not in the group.
type gaps struct {
	w     *world
	calls []string
}

// watchForGaps looks at the group whenever one of the clusters makes a call,
// and in the end.
func (w *world) watchForGaps(targets []string, clusters ...*site) *gaps {
	g := &gaps{w: w}
	for _, s := range clusters {
		s.disturbs(func(call string) fault {
			g.look(targets, s.id+" "+call)
			return nil
		})
	}
	return g
}

func (g *gaps) look(targets []string, call string) {
	present := g.w.sim.Registered(g.w.group.ARN)
	for _, target := range targets {
		if !slices.Contains(present, target) {
			g.calls = append(g.calls, call+" without "+target)
		}
	}
}

func (g *gaps) expectNone() {
	g.w.t.Helper()
	g.w.Expect(g.calls).To(BeEmpty())
}

func TestCase30ABindingMovesToAnotherClusterWithoutAGap(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.reconciles("web")
	west.runs("web", "10.0.0.1", "10.0.0.2")
	west.binds("web")

	gaps := w.watchForGaps(at8080("10.0.0.1", "10.0.0.2"), east, west)
	west.settles("web")
	west.expectReconciled("web")
	east.deletes("web")
	east.settles("web")
	west.settles("web")
	gaps.expectNone()
	east.expectGone("web")
	east.expectNoRecord("web")
	east.expectRemovals(0)
	west.expectRecord("web", at8080("10.0.0.1", "10.0.0.2"), nil)
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
}

// Nobody binds the targets in between: they stay, as nobody's, until the next
// owner claims them.
func TestCase30ARetainedBindingLeavesItsTargets(t *testing.T) {
	w := newWorld(t)
	w.somebodyRegisters("10.9.0.9:8080")
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")

	gaps := w.watchForGaps(at8080("10.0.0.1", "10.0.0.2"), east, west)
	east.deletes("web")
	east.reconciles("web")
	east.expectGone("web")
	east.expectNoRecord("web")
	east.restarts()
	east.sweeps(nil, "")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.9.0.9:8080")
	east.expectRemovals(0)

	west.runs("web", "10.0.0.2")
	west.binds("web")
	west.settles("web")
	west.expectCounts("web", v1beta1.TargetCounts{Held: 1, External: 2})
	gaps.expectNone()
	west.deletes("web")
	west.settles("web")
	w.expectGroup("10.0.0.1:8080", "10.9.0.9:8080")
}

// The endpoints do not count any more: a Service that goes with the binding
// takes nothing along.
func TestCase30RetainedIsWhatTheRecordHolds(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")
	east.Expect(east.api.Client.Delete(t.Context(), east.service("web"))).To(Succeed())
	east.scales("web")
	east.deletes("web")
	east.forget()
	east.settles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
	east.expectGone("web")
	east.expectCalls(map[string]int{"DeleteItem": 1, "PATCH targetgroupbindings": 1})
}

// What the binding was taking out before is still taken out.
func TestCase30ARetainedBindingFinishesItsReleases(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")
	east.scales("web", "10.0.0.1")
	east.fails(connectionReset, "DeregisterTargets")
	east.reconciles("web")
	east.deletes("web")
	east.reconciles("web")
	east.expectRecord("web", at8080("10.0.0.1"), at8080("10.0.0.2"))
	w.Expect(east.binding("web").Finalizers).To(ConsistOf(v1beta1.Finalizer))

	east.calm()
	east.settles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectGone("web")
	east.expectNoRecord("web")
}

// A process that knows nothing yet reads the record before it decides, and
// keeps it until no call of its predecessor can land any more: another owner
// may have taken the target out by then.
func TestCase30ARestartedProcessRetainsToo(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")
	east.deletes("web")
	east.restarts()
	east.fails(dynamoDBSays("ThrottlingException"), "Query")
	east.reconciles("web")
	east.expectReason("web", v1beta1.ReasonThrottled)
	east.calm()

	gaps := w.watchForGaps(at8080("10.0.0.1", "10.0.0.2"), east)
	after := east.reconciles("web").RequeueAfter
	w.Expect(after).To(Equal(ownership.Settle))
	w.passes(after - time.Second)
	east.reconciles("web")
	east.expectRecord("web", at8080("10.0.0.1", "10.0.0.2"), nil)
	w.passes(time.Second)
	east.reconciles("web")
	east.expectGone("web")
	east.expectNoRecord("web")
	gaps.expectNone()
	east.expectRemovals(0)
}

// The other process wrote between this one's last pass and the deletion: its
// claims stay too.
func TestCase30ARetainedBindingTakesOverWhatAnotherProcessHolds(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")
	old := east.process
	east.restarts()
	east.scales("web", "10.0.0.1", "10.0.0.2")
	east.reconciles("web")
	east.deletes("web")
	east.process = old
	east.settles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
	east.expectGone("web")
	east.expectNoRecord("web")
	east.expectRemovals(0)
}

func TestCase30ARetainedBindingWhoseRowWasLost(t *testing.T) {
	for name, compared := range map[string]bool{"noticed by a comparison": true, "noticed by the deletion": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1", "10.0.0.2")
			east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
			east.reconciles("web")
			w.losesRow(east.owner("web"))
			if compared {
				w.passes(2 * comparePeriod)
			}
			east.deletes("web")
			east.settles("web")
			w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
			east.expectGone("web")
			east.expectNoRecord("web")
			east.expectRemovals(0)
		})
	}
}

func TestCase30APolicyThatIsNoneHoldsTheDeletionUp(t *testing.T) {
	for value, group := range map[string][]string{
		v1beta1.DeletionPolicyRetain: at8080("10.0.0.1"),
		v1beta1.DeletionPolicyDelete: {},
	} {
		t.Run("corrected to "+value, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web")
			east.reconciles("web")
			east.expectReconciled("web")
			east.edits("web", withPolicy("retain"))
			east.deletes("web")
			east.settles("web")
			w.expectGroup("10.0.0.1:8080")
			east.expectRecord("web", at8080("10.0.0.1"), nil)
			east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonInvalidSpec, v1beta1.DeletionPolicyAnnotation, `"retain"`, "Delete, Retain or HandOver")
			east.expectEvents("Warning InvalidSpec: ")

			east.edits("web", withPolicy(value))
			east.settles("web")
			east.expectGone("web")
			w.expectGroup(group...)
		})
	}
}

// Nothing is taken in while the cluster is retired, and to retain can mean to
// register what is missing: that waits.
func TestCase30ARetiredClusterRetainsNothing(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")
	east.gate.closed = &cluster.RetiredError{ID: east.id}
	east.deletes("web")
	east.reconciles("web")
	east.expectReason("web", v1beta1.ReasonClusterRetired)
	east.expectRecord("web", at8080("10.0.0.1"), nil)
	east.gate.closed = nil
	east.reconciles("web")
	east.expectGone("web")
	w.expectGroup("10.0.0.1:8080")
}

// An annotation is no part of the generation.
func TestCase30ACorrectedPolicyIsSeenAtOnce(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.controls()
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.eventuallyReady("web", v1beta1.ReasonReconciled)
	east.edits("web", withPolicy("retain"))
	east.deletes("web")
	east.eventuallyReady("web", v1beta1.ReasonInvalidSpec)
	east.edits("web", withPolicy(v1beta1.DeletionPolicyRetain))
	w.Eventually(w.records).Should(BeEmpty())
	w.expectGroup("10.0.0.1:8080")
}
