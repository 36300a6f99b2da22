package pass_test

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/simulation"
)

// told is the account of the last pass, one line for each kind of event.
func (c *controller) told() []string { return lines(c.report.Events) }

func (c *controller) standing() []string { return lines(c.report.Standing) }

func lines(events []history.Event) []string {
	out := []string{}
	for _, e := range history.Merge(events) {
		line := fmt.Sprintf("%s %v: %s", e.What, e.Targets, e.Reason)
		if len(e.Others) > 0 {
			line += fmt.Sprintf(" %v", e.Others)
		}
		out = append(out, line)
	}
	return out
}

// The account of an address that moves from a to b, by both of them.
func TestAMovedAddressIsToldByBoth(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a, b := r.controller(owner("a")), r.controller(owner("b"))
	a.wants(x, y)
	g.Expect(a.told()).To(Equal([]string{
		"claimed [10.0.0.1:80 10.0.0.2:80]: the endpoint is live",
		"registered [10.0.0.1:80 10.0.0.2:80]: not confirmed to be registered",
	}))
	a.wants(x, y)
	g.Expect(a.told()).To(BeEmpty(), "a pass that did nothing")

	b.wants(x)
	a.wants(y)
	g.Expect(a.told()).To(Equal([]string{
		"releasing [10.0.0.1:80]: the endpoint is gone",
		"kept [10.0.0.1:80]: another owner holds it [b/shop/web]",
	}))
	a.wants()
	g.Expect(a.told()).To(Equal([]string{
		"releasing [10.0.0.2:80]: the endpoint is gone",
		"deregistered [10.0.0.2:80]: no other owner holds it",
		"released [10.0.0.2:80]: deregistered",
	}))
}

// A block stands from pass to pass, names who blocks, and is no event.
func TestABlockNamesWhoBlocks(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a, b := r.controller(owner("a")), r.controller(owner("b"))
	a.wants(x)
	a.client.Before = func(*simulation.Call) simulation.Fate {
		b.wants(x)
		return simulation.Applied
	}
	a.wants()
	g.Expect(b.told()).To(Equal([]string{"claimed [10.0.0.1:80]: the endpoint is live"}))
	g.Expect(b.standing()).To(Equal([]string{"blocked [10.0.0.1:80]: another owner is releasing it [a/shop/web]"}))
	b.wants(x)
	g.Expect(b.standing()).To(BeEmpty())
	g.Expect(b.told()).To(Equal([]string{"registered [10.0.0.1:80]: not confirmed to be registered"}))
}

func TestWhatTheTableLostIsToldAsLost(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x, y)
	r.table.Wipe()
	g.Expect(a.pass(true, x)).To(Succeed())
	g.Expect(a.told()).To(ContainElements(
		"claimed [10.0.0.1:80]: the table lost our record of it",
		"releasing [10.0.0.2:80]: the table lost our record of it",
	))
}

// What was written in vain is not told as done.
func TestAFailedWriteIsNoEvent(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a := r.controller(owner("a"))
	r.fault = func(op memory.Op) memory.Fault {
		if op.Writes() {
			return memory.Refuse(ownership.ErrThrottled)
		}
		return memory.Fault{}
	}
	g.Expect(a.pass(false, x)).To(MatchError(ownership.ErrThrottled))
	g.Expect(a.told()).To(BeEmpty())
}

func TestARefusalStands(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	r.group.Invalid = set(x)
	a := r.controller(owner("a"))
	a.wants(x, y)
	g.Expect(a.standing()).To(HaveLen(1))
	g.Expect(a.standing()[0]).To(HavePrefix("refused [10.0.0.1:80]: the load balancer refuses the target"))
}
