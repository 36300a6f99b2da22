package binding

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

func TestCase2UnrecordedTargetsStayInASharedGroup(t *testing.T) {
	w := newWorld(t)
	w.somebodyRegisters("10.9.0.8:8080", "10.9.0.9:8080")
	east := w.cluster("east")
	removals := w.watchForForeignRemovals(east)
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	w.expectGroup("10.0.0.2:8080", "10.9.0.8:8080", "10.9.0.9:8080")
	east.expectCounts("web", v1beta1.TargetCounts{Held: 1, External: 2})

	w.Expect(w.store.Delete(t.Context(), w.records()[east.owner("web")])).To(Succeed(), "rows deleted by hand")
	w.passes(2 * comparePeriod)
	east.settles("web")
	east.restarts()
	east.settles("web")
	w.expectGroup("10.0.0.2:8080", "10.9.0.8:8080", "10.9.0.9:8080")

	east.deletes("web")
	east.settles("web")
	w.expectGroup("10.9.0.8:8080", "10.9.0.9:8080")
	removals.expectNone()
}

// A table that was lost with the process that knew of it: the old targets are
// nobody's, and stay.
func TestCase2ANewTableMeansNoRemoval(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.reconciles("web")

	w.table = w.table.Another(t)
	w.store = east.dynamoDB(&wire{})
	east.restarts()
	east.scales("web", "10.0.0.1")
	east.settles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080")
	east.expectCounts("web", v1beta1.TargetCounts{Held: 1, External: 1})
	east.expectRemovals(0)
}

func TestCase2AnExclusiveBindingTakesOutWhatNobodyRecorded(t *testing.T) {
	w := newWorld(t)
	w.somebodyRegisters("10.9.0.9:8080")
	west := w.cluster("west")
	west.runs("web", "10.2.0.1")
	west.binds("web")
	west.reconciles("web")
	east := w.cluster("east")
	east.runs("web", "10.1.0.1")
	east.binds("web", exclusive)

	east.reconciles("web")
	w.expectGroup("10.1.0.1:8080", "10.2.0.1:8080")
	east.expectReconciled("web")
	east.expectConsistent("web", metav1.ConditionFalse, v1beta1.ReasonShared, west.owner("web"), "spec.multiClusterTargetGroup")
	west.expectConsistent("web", metav1.ConditionTrue, v1beta1.ReasonConsistent)
	w.Expect(w.records()[east.owner("web")].Exclusive).To(BeTrue(), "what the record says of the binding")
	w.Expect(w.records()[west.owner("web")].Exclusive).To(BeFalse())

	w.somebodyRegisters("10.9.0.7:8080")
	east.reconciles("web")
	w.expectGroup("10.1.0.1:8080", "10.2.0.1:8080", "10.9.0.7:8080") // nobody has looked
	w.passes(2 * comparePeriod)
	east.reconciles("web")
	w.expectGroup("10.1.0.1:8080", "10.2.0.1:8080")

	west.deletes("web")
	west.reconciles("web")
	w.passes(2 * comparePeriod)
	east.reconciles("web")
	w.expectGroup("10.1.0.1:8080")
	east.expectConsistent("web", metav1.ConditionTrue, v1beta1.ReasonConsistent)
}

// A migration: the group holds pods that no record names, and the cache does
// not have all of them yet.
func TestCase2AnExclusiveBindingConfirmsWhatItTakesOut(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runsInSlices("web", readyAll("10.0.0.1"))
	east.binds("web", exclusive)
	east.reconciles("web")
	w.somebodyRegisters("10.0.0.2:8080", "10.9.0.9:8080")
	east.changesSlice("web-0", readyAll("10.0.0.1", "10.0.0.2")...)
	east.fails(oneSlice("web-0", "web", "10.0.0.1"), "cached LIST endpointslices")
	gaps := 0
	defer w.sim.Observe(func(m elbsim.Mutation) {
		if m.Call.Action == "DeregisterTargets" && slices.Contains(m.Call.Targets, "10.0.0.2:8080") {
			gaps++
		}
	})()
	w.passes(2 * comparePeriod)
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080")
	w.Expect(gaps).To(BeZero())
}

func TestCase2AnExclusiveBindingLeavesTheRestWhenItGoes(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", exclusive)
	east.reconciles("web")
	w.somebodyRegisters("10.9.0.9:8080")
	w.passes(2 * comparePeriod)
	east.deletes("web")
	east.reconciles("web")
	w.expectGroup("10.9.0.9:8080")
	east.expectGone("web")
}

func TestCase5And6OwnershipIsTheRecordAlone(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	// The pods that were here before, of the same Service and the same subnet.
	w.somebodyRegisters("10.0.0.3:8080", "10.0.0.4:8080")
	east.reconciles("web")
	east.scales("web", "10.0.0.1")
	east.reconciles("web")
	w.passes(2 * comparePeriod)
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.3:8080", "10.0.0.4:8080")
}

func TestCase7AnAddressMovesBeforeItsOldClusterHasCleanedUp(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1", "10.0.0.5")
	east.binds("web")
	east.reconciles("web")
	west.runs("web", "10.0.0.5")
	west.binds("web")

	east.scales("web", "10.0.0.1") // and east is behind
	west.reconciles("web")
	west.expectConsistent("web", metav1.ConditionTrue, v1beta1.ReasonShared, east.owner("web"))
	west.expectCounts("web", v1beta1.TargetCounts{Held: 1, Shared: 1})
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.5:8080")
	east.expectRecord("web", at8080("10.0.0.1"), nil)
	east.expectRemovals(0)

	east.deletes("web")
	east.reconciles("web")
	w.expectGroup("10.0.0.5:8080")
}

// West claims the address while east is taking it out.
func TestCase7AnAddressMovesWhileItIsTakenOut(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1", "10.0.0.5")
	east.binds("web")
	east.reconciles("web")
	west.runs("web", "10.0.0.5")
	west.binds("web")

	east.scales("web", "10.0.0.1")
	east.disturbs(func(call string) fault {
		if call == "DeregisterTargets" {
			west.reconciles("web")
		}
		return nil
	})
	east.reconciles("web")
	west.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonBlocked, "0 of 1")
	west.expectCounts("web", v1beta1.TargetCounts{Held: 1, Blocked: 1})
	w.Expect(west.events.taken()).To(BeEmpty(), "to wait for another cluster is no trouble")
	w.expectGroup("10.0.0.1:8080")

	west.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.5:8080")
	west.expectReconciled("web")
	west.expectEvents()
}

func TestCase27ATargetOfTwoBindingsStaysUntilTheLastLetsGo(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.runs("api", "10.0.0.1", "10.0.0.3")
	east.binds("web")
	east.binds("api")
	east.reconciles("web", "api")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080")
	east.expectConsistent("api", metav1.ConditionTrue, v1beta1.ReasonShared, "1 target is theirs and this binding's")

	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080")
	east.deletes("api")
	east.reconciles("api")
	w.expectGroup("10.0.0.2:8080")
	east.expectGone("api")
}
