package pass_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

// Field case 20: a target that the load balancer keeps refusing costs calls
// less and less often, and holds up neither what enters nor what leaves.
func TestCase20ARefusedTargetHoldsUpNothing(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	r.group.Invalid = set(x)
	a := r.controller(owner("a"))
	a.wants(x, y)
	r.expectMembers(y)

	// Not its turn yet: it is not part of what is sent.
	g.Expect(r.countDuring(func() { a.wants(x, y) })).To(Equal(counts{}))
	r.countDuring(func() { a.wants(x, z) })
	g.Expect(sent(r)).To(Equal([]string{"register [" + z + "]", "deregister [" + y + "]"}))
	g.Expect(a.report.Plan.Count(plan.Wait, plan.RefusedLately)).To(Equal(1))

	// Its turn, and last.
	r.clock.Advance(2 * time.Second)
	r.countDuring(func() { a.wants(x, y) })
	g.Expect(sent(r)).To(Equal([]string{"register [" + y + "]", "deregister [" + z + "]", "register [" + x + "]"}))

	r.group.Invalid = nil
	r.clock.Advance(4 * time.Second)
	a.wants(x, y)
	r.expectMembers(x, y)
}

func sent(r *rig) []string {
	var calls []string
	for _, c := range r.group.Calls {
		calls = append(calls, c.String())
	}
	return calls
}

// What we took out late cannot be given back to its holder where the load
// balancer does not take it, and must not keep us from finishing: the holder
// finds it missing.
func TestWhatCannotBeGivenBackIsLeftToItsHolder(t *testing.T) {
	for name, refuse := range map[string]func(*rig){
		"full":    func(r *rig) { r.group.Quota = len(r.group.Members) },
		"invalid": func(r *rig) { r.group.Invalid = set(x) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, externals...)
			a, b := r.controller(owner("a")), r.controller(owner("b"))
			a.wants(x)
			a.client.Before = func(c *simulation.Call) simulation.Fate {
				if c.Verb == simulation.Deregister {
					b.wants(x)
					r.clock.Advance(ownership.Settle + time.Second)
					b.wants(x)
				}
				return simulation.Applied
			}
			a.client.After = func() { refuse(r) }
			a.wants()
			r.expectMembers(externals...)
			r.expectRecord(owner("a"), nil, nil)
			r.expectRecord(owner("b"), targets{x}, nil)
		})
	}
}
