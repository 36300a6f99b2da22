package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

var mixed = []ownership.State{
	{Target: "10.0.0.3:80"},
	{Target: "10.0.0.1:80", Entry: ownership.Held},
	{Target: "i-0abc:30080"},
	{Target: "10.0.0.2:80", Entry: ownership.Releasing, Looked: true, Presence: ownership.Gone},
	{Target: "[2001:db8::5]:80", Entry: ownership.Held, Presence: ownership.Registered},
}

var wanted = Binding{Want: ownership.Set{"10.0.0.3:80": true, "[2001:db8::5]:80": true}}

func TestPlanIsOrderedByTargetWhateverTheOrderOfStates(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		states := slices.Clone(mixed)
		random.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
		g.Expect(Make(wanted, slices.Values(states)).String()).To(Equal(
			"release 10.0.0.1:80: the endpoint is gone\n" +
				"drop 10.0.0.2:80: deregistered\n" +
				"claim 10.0.0.3:80: the endpoint is live\n" +
				"keep [2001:db8::5]:80: registered\n"))
	}
}

func TestPlanAnswersByActionAndReason(t *testing.T) {
	g := NewWithT(t)
	p := Make(Binding{}, slices.Values([]ownership.State{
		{Target: "10.0.0.2:80", Entry: ownership.Held},
		{Target: "10.0.0.1:80", Lost: true},
		{Target: "10.0.0.3:80"},
	}))
	g.Expect(p.Targets(Release)).To(Equal([]ownership.Target{"10.0.0.1:80", "10.0.0.2:80"}))
	g.Expect(p.Targets(Claim)).To(BeEmpty())
	g.Expect(p.Has(Claim, Release)).To(BeTrue())
	g.Expect(p.Has(Claim, Ignore)).To(BeFalse())
	g.Expect(p.Count(Release)).To(Equal(2))
	g.Expect(p.Count(Release, RecordLost)).To(Equal(1))
	g.Expect(p.Count(Release, Wanted, Unwanted, RecordLost)).To(Equal(2))
}
