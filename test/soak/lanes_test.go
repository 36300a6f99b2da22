package soak

import (
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func strikesOf(seed uint64, n int) map[string][]strike {
	strikes := map[string][]strike{}
	sites := []*site{{name: "east"}, {name: "west"}}
	for _, l := range newLanes(sites, time.Minute, func(number uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, number)) }) {
		for range n {
			strikes[l.name] = append(strikes[l.name], l.next())
		}
	}
	return strikes
}

func TestASeedDecidesOnTheFaults(t *testing.T) {
	g := NewWithT(t)
	one := strikesOf(1, 50)
	g.Expect(one).To(HaveLen(7), "a person, and three lanes for each of two clusters")
	g.Expect(strikesOf(1, 50)).To(Equal(one))
	g.Expect(strikesOf(2, 50)).NotTo(Equal(one))
	g.Expect(one["east to the table"]).NotTo(Equal(one["west to the table"]))
}

func TestEveryFaultIsDrawnWithinItsBounds(t *testing.T) {
	g := NewWithT(t)
	kinds := map[string]int{}
	for _, strikes := range strikesOf(3, 200) {
		for _, s := range strikes {
			kinds[s.kind]++
			g.Expect(s.pause).To(BeNumerically("~", 16500*time.Millisecond, 8500*time.Millisecond))
			g.Expect(s.hold).To(BeNumerically("<=", time.Minute), "%+v", s)
			g.Expect(s.size).To(And(BeNumerically(">=", 0), BeNumerically("<", 1)))
		}
	}
	for _, kind := range []string{killed, frozen, cutOff, blackHole, slow, reset, throttled, late, byHand} {
		g.Expect(kinds).To(HaveKey(kind))
	}
}
