package pass_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

func TestCase2UnrecordedTargetsAreNeverTouchedByASharedBinding(t *testing.T) {
	r := newRig(t, externals...)
	a := r.controller(owner("a"))
	a.compares()
	a.compares(x)
	r.expectMembers(append(targets{x}, externals...)...)

	before := r.table.Snapshot()
	a.compares(y)
	for _, damage := range []func(){r.table.Wipe, func() { r.table.Restore(before) }} {
		damage()
		a.compares(y)
		r.clock.Advance(2 * ownership.Settle)
		a.compares(y)
		r.controller(owner("a")).compares(y)
	}
	r.controller(owner("a")).settles()
	r.expectMembers(externals...)
}

func TestCase7AMovedAddressStaysWithItsNewOwner(t *testing.T) {
	r := newRig(t)
	a, b := r.controller(owner("a")), r.controller(owner("b"))
	a.wants(x, y)
	b.wants(x) // before a has cleaned up
	a.wants(y)
	r.expectMembers(x, y)
	r.expectRecord(owner("a"), targets{y}, nil)
	if n := r.group.Count(simulation.Deregister); n != 0 {
		t.Errorf("%d deregistrations, want none", n)
	}
}

// The other way round: a is taking x out when b claims it.
func TestCase7ANewOwnerWaitsForARelease(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a, b := r.controller(owner("a")), r.controller(owner("b"))
	a.wants(x)
	a.client.Before = func(*simulation.Call) simulation.Fate {
		b.wants(x) // between a's look and the effect of its call
		return simulation.Applied
	}
	a.wants()
	g.Expect(b.report.Plan.Count(plan.Wait, plan.BlockedByOther)).To(Equal(1))
	r.expectMembers()
	b.wants(x)
	r.expectMembers(x)
}

// A releasing owner that is cut off from the table blocks others for Settle,
// and lets none of its calls land after that.
func TestCase7ALateLookDoesNotAllowALateCall(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a, b := r.controller(owner("a")), r.controller(owner("b"))
	a.wants(x)
	r.fault = func(op memory.Op) memory.Fault {
		if op.Kind == memory.Records {
			return memory.Refuse(ownership.ErrUnavailable)
		}
		return memory.Fault{}
	}
	g.Expect(a.pass(false)).To(MatchError(ownership.ErrUnavailable)) // flagged, not looked
	r.fault = nil
	b.wants(y) // sees a's flag for the first time
	r.clock.Advance(ownership.Settle)

	a.client.Before = func(*simulation.Call) simulation.Fate {
		b.wants(y, x)
		return simulation.Delayed
	}
	a.wants()
	for len(r.group.UnderWay) > 0 {
		r.group.Land(0)
	}
	b.wants(y, x)
	g.Expect(b.report.Plan.Count(plan.Wait, plan.BlockedByOther)).To(Equal(1),
		"b has to wait for the call that a's late look allowed")
	a.client.Before = nil
	r.clock.Advance(ownership.Settle)
	a.settles()
	b.wants(y, x)
	r.expectMembers(x, y)
}

func TestCase9ARetryThatFailsItsOwnConditionIsRecognised(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	ledger := ownership.NewLedger(retrying{r.table, r}, ownership.Identity{Group: arn, Owner: owner("a"), BindingUID: "uid"},
		ownership.Env{Now: r.clock.Now, NewID: func() string { r.ids++; return "retried-" + string(rune('a'+r.ids)) }})
	a = &controller{rig: r, ledger: ledger, client: a.client}
	for _, want := range []targets{{x}, {x, y}, {y}, nil} { // create, claim, release and drop
		a.wants(want...)
		r.expectMembers(want...)
	}
	r.expectRecord(owner("a"), nil, nil)
}

func TestCase10SwitchingModesLeaksNothing(t *testing.T) {
	for _, stage := range []int{0, 1, 2, 3, 4} {
		r := newRig(t, externals...)
		a, b := r.controller(owner("a")), r.controller(owner("b"))
		b.wants(y)
		a.exclusive = true
		n := 0
		r.fault = func(memory.Op) memory.Fault {
			if n++; n > stage {
				return memory.Refuse(ownership.ErrThrottled)
			}
			return memory.Fault{}
		}
		_ = a.pass(true, x)
		r.fault, a.exclusive = nil, false
		a.settles(x)
		r.expectRecord(owner("a"), targets{x}, nil)
		for _, m := range []ownership.Target{x, y} {
			if !r.group.Members[m] {
				t.Errorf("switched to shared after %d calls: %s is gone", stage, m)
			}
		}
		a.exclusive = true
		a.compares(x)
		r.expectMembers(x, y) // y is recorded by b, the others by nobody
	}
}

func TestCase11ATargetTakenOutByHandIsRegisteredAgain(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x, y)
	delete(r.group.Members, x)
	a.wants(x, y)
	r.expectMembers(y) // nobody has told yet
	a.compares(x, y)
	r.expectMembers(x, y)
}

func TestCase12AnOldLeaderLooksAgainBeforeItActs(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x, y)
	old := r.controller(owner("a"))
	old.wants(x, y)

	// The old leader has looked and pauses before its call; a new leader
	// wants x again, and another cluster has taken over y.
	old.client.Before = func(*simulation.Call) simulation.Fate {
		t.Fatal("the old leader made a call")
		return simulation.Refused
	}
	r.fault = func(op memory.Op) memory.Fault {
		if op.Kind == memory.Records {
			r.fault = nil
			r.clock.Advance(10 * time.Minute)
			r.controller(owner("a")).wants(x, y)
			r.controller(owner("b")).wants(y)
		}
		return memory.Fault{}
	}
	g.Expect(old.pass(false)).To(MatchError(ownership.ErrConflict))
	r.expectMembers(x, y)

	// A permission that it had before the pause has expired.
	fresh := r.controller(owner("c"))
	fresh.wants(z)
	fresh.client.Before = nil
	g.Expect(fresh.ledger.Flag(t.Context(), nil, targets{z})).To(Succeed())
	g.Expect(fresh.ledger.Look(t.Context())).To(Succeed())
	removal := fresh.ledger.Current().Remove(targets{z})
	g.Expect(removal.Targets()).To(Equal(targets{z}))
	r.clock.Advance(ownership.CallBudget + time.Nanosecond)
	g.Expect(fresh.client.Deregister(t.Context(), removal).Refused[z]).To(MatchError(ownership.ErrLookExpired))
	r.expectMembers(x, y, z)
}
