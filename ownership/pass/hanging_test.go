package pass_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

// Registrations that take their whole budget, in every pass, leave no time of
// the flag: it is written anew, and the dead target leaves all the same.
func TestRegistrationsThatHangHoldUpNoRemoval(t *testing.T) {
	g := NewWithT(t)
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x)
	a.client.Before = func(c *simulation.Call) simulation.Fate {
		if c.Verb == simulation.Deregister {
			return simulation.Applied
		}
		r.clock.Advance(ownership.CallBudget + 1)
		return simulation.Delayed
	}
	a.wants(y)
	r.expectMembers()
	g.Expect(r.group.Count(simulation.Register)).To(Equal(2), "x, and y once")
	g.Expect(a.report.Plan.Targets(plan.Wait, plan.CallFailed)).To(Equal(targets{y}))
	r.expectRecord(owner("a"), targets{y}, nil)
}
