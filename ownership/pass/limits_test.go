package pass_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

func TestCase14DeadTargetsLeaveAFullGroupFirst(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	r.group.Quota = 100
	r.controller(owner("a")).wants(many(60, 1)...)
	b := r.controller(owner("b"))
	b.wants(many(30, 2)...)

	want := append(many(30, 2)[10:], many(40, 3)...)
	b.wants(want...)
	g.Expect(r.group.Members).To(HaveLen(100))
	for _, dead := range many(30, 2)[:10] {
		g.Expect(r.group.Members[dead]).To(BeFalse())
	}
	// 10 were free, 10 more became free; the first in order go in.
	waiting := b.report.Plan.Targets(plan.Wait)
	g.Expect(waiting).To(HaveLen(20))
	g.Expect(slices.Max(b.report.Plan.Targets(plan.Keep)) < slices.Min(waiting)).To(BeTrue())
	for _, s := range b.report.Plan.Steps {
		if s.Action == plan.Wait {
			g.Expect(errors.Is(s.Err, ownership.ErrGroupFull)).To(BeTrue())
		}
	}
}

func TestCase15OneBadTargetDoesNotHoldUpTheRest(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	nodes := many(10, 1)
	r.group.Invalid = set(nodes[3])
	a := r.controller(owner("a"))
	a.wants(nodes...)
	g.Expect(r.group.Members).To(HaveLen(9))
	g.Expect(a.report.Plan.Count(plan.Keep)).To(Equal(9))
	waiting := a.report.Plan.Targets(plan.Wait)
	g.Expect(waiting).To(Equal(nodes[3:4]))

	// It can still be given up.
	a.wants(append(nodes[:3:3], nodes[4:]...)...)
	g.Expect(a.ledger.Record().Held).To(HaveLen(9))
	g.Expect(a.ledger.Record().Releasing).To(BeEmpty())
}

func TestCase16ABlockedTargetDoesNotHoldUpTheRest(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	want := many(50, 1)
	b := r.controller(owner("b"))
	b.wants(want[7])
	b.client.Before = func(*simulation.Call) simulation.Fate { return simulation.Refused }
	b.wants()

	a := r.controller(owner("a"))
	a.wants(want...)
	g.Expect(a.report.Registered).To(HaveLen(49))
	g.Expect(a.report.Plan.Count(plan.Keep)).To(Equal(49))
	g.Expect(a.report.Plan.Count(plan.Wait, plan.BlockedByOther)).To(Equal(1))
	r.clock.Advance(ownership.Settle - time.Nanosecond)
	a.wants(want...)
	g.Expect(a.report.Registered).To(BeEmpty())
	r.clock.Advance(time.Nanosecond)
	a.wants(want...)
	g.Expect(a.report.Registered).To(Equal(targets{want[7]}))
}

func TestCase27TwoBindingsOfOneClusterThatOverlap(t *testing.T) {
	r := newRig(t)
	web, api := owner("a"), ownership.Owner{Cluster: "a", Namespace: "shop", Name: "api"}
	first, second := r.controller(web), r.controller(api)
	first.wants(x, y)
	second.wants(x)
	first.wants(y)
	r.expectMembers(x, y)
	second.wants()
	r.expectMembers(y)
}

// The record has no room: claims wait, releases go on.
func TestAFullRecordStillReleases(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x, y)
	n := 0
	r.fault = func(op memory.Op) memory.Fault {
		if n++; n == 1 {
			return memory.Refuse(ownership.ErrTooLarge)
		}
		return memory.Fault{}
	}
	a.wants(y, z)
	g.Expect(a.report.TooLarge).To(MatchError(ownership.ErrTooLarge))
	g.Expect(a.report.Plan.Targets(plan.Claim)).To(Equal(targets{z}))
	r.expectMembers(y)
	r.expectRecord(owner("a"), targets{y}, nil)
}

// A process that was frozen beyond every deadline while it called: the target
// had a new owner by then, and gets it back.
func TestAFrozenDeregistrationIsGivenBack(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a, b := r.controller(owner("a")), r.controller(owner("b"))
	a.wants(x)
	a.client.Before = func(c *simulation.Call) simulation.Fate {
		if c.Verb == simulation.Deregister {
			b.wants(x)
			r.clock.Advance(ownership.Settle + time.Second)
			b.wants(x)
			r.expectMembers(x)
		}
		return simulation.Applied
	}
	a.wants()
	g.Expect(r.group.Count(simulation.Deregister)).To(Equal(1))
	r.expectMembers(x)
	r.expectRecord(owner("a"), nil, nil)
}

func TestAnUnreadableRecordBlocksRemovalsNotRegistrations(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x)
	r.table.Break(ownership.Key{Group: arn, Owner: owner("b")}, "schema version 2")
	a.wants(y)
	r.expectMembers(x, y)
	r.expectRecord(owner("a"), targets{y}, targets{x})
}
