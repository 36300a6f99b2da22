package simulation_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/simulation"
)

// reckless makes the group what one binding wants, as if it were its own.
type reckless struct{}

func (reckless) Name() string { return "reckless" }

func (reckless) Start(env simulation.Env) simulation.Reconciler { return recklessly{env} }

type recklessly struct{ env simulation.Env }

func (r recklessly) Reconcile(_ context.Context, b simulation.Binding) (simulation.Report, error) {
	members, err := r.env.Group.List()
	if err != nil {
		return simulation.Report{}, err
	}
	maps.DeleteFunc(members, func(t ownership.Target, _ bool) bool { return b.Want[t] })
	r.env.Group.Call(simulation.Deregister, slices.Sorted(maps.Keys(members)), r.env.Now().Add(time.Second))
	return simulation.Report{Done: b.Deleted}, nil
}

// What a run does not need to fail is taken out of its history.
func TestAFailingRunIsShrunk(t *testing.T) {
	g := NewWithT(t)
	config := simulation.Config{Seed: 1, Method: reckless{}, Shared: true}
	whole := simulation.Run(config)
	g.Expect(whole.Violations).NotTo(BeEmpty())
	g.Expect(whole.Violations[0].Invariant).To(Equal(simulation.S3))

	shrunk := simulation.Shrink(config)
	g.Expect(shrunk.Violations).NotTo(BeEmpty())
	g.Expect(shrunk.Violations[0].Invariant).To(Equal(simulation.S3))
	g.Expect(shrunk.Moves).To(BeZero())
	g.Expect(shrunk.Faults).To(BeEmpty())
	// All is calm, and one call takes out both targets that were put in by hand.
	g.Expect(shrunk.History).To(HaveLen(4), "%s", shrunk)
}

func TestARunThatDoesNotFailIsLeftAsItIs(t *testing.T) {
	g := NewWithT(t)
	config := simulation.Config{Seed: 1}
	g.Expect(simulation.Shrink(config)).To(Equal(simulation.Run(config)))
}

// With Count a run goes on, and tells the promises apart.
func TestACountGoesOnAfterAViolation(t *testing.T) {
	g := NewWithT(t)
	counted := simulation.Run(simulation.Config{Seed: 1, Method: reckless{}, Shared: true, Count: true})
	broken := map[simulation.Invariant]bool{}
	for _, v := range counted.Violations {
		broken[v.Invariant] = true
	}
	g.Expect(broken).To(HaveKey(simulation.S3))
	g.Expect(broken).To(HaveKey(simulation.L1Missing), "it registers nothing")
	g.Expect(counted.Violations[0].Text).To(ContainSubstring("10.9.0."))
}
