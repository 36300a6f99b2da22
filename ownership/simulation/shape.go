package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

const arn ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

// outsiders were put into the group by hand.
var outsiders = []ownership.Target{"10.9.0.1:80", "10.9.0.2:80"}

// shape is the kind of a world.
type shape struct {
	bindings  []int // of each cluster
	addresses int
	steps     int
	faults    int // how often calls go wrong: 1 rarely to 3 often; 0 never
	pace      int // of time: 0 seconds a step, 2 minutes

	compares bool // passes list the group at times
	switches bool // bindings turn exclusive and shared again
	quota    int  // 0: none
	invalid  int  // addresses that the group refuses
	loses    bool // a cluster may go for good
	damages  bool // rows are deleted, the table is emptied or restored
}

// paces are the times that pass between the steps of a world. Races need a
// slow one, and what waits for Settle a fast one.
var paces = [...][]time.Duration{
	{time.Second, time.Second, 2 * time.Second, 5 * time.Second, 19 * time.Second},
	{time.Second, 5 * time.Second, 19 * time.Second, 31 * time.Second, 61 * time.Second},
	{5 * time.Second, 19 * time.Second, 31 * time.Second, 61 * time.Second, 5 * time.Minute},
}

// few are small numbers more often than great ones: most races need two
// clusters and one target.
func few(r *rand.Rand, least, most int) int {
	return least + min(r.IntN(most-least+1), r.IntN(most-least+1), r.IntN(most-least+1))
}

func draw(r *rand.Rand, shared bool) shape {
	s := shape{addresses: few(r, 1, 8), steps: 200, faults: r.IntN(4), pace: r.IntN(len(paces))}
	for range few(r, 2, 6) {
		n := few(r, 1, 5)
		s.bindings = append(s.bindings, n)
		s.steps += 100 * n
	}
	s.compares = r.IntN(2) == 0
	s.switches = r.IntN(5) == 0 && !shared
	if r.IntN(6) == 0 {
		s.quota = len(outsiders) + 1 + r.IntN(s.addresses)
	}
	if r.IntN(6) == 0 {
		s.invalid = 1
	}
	s.loses = r.IntN(8) == 0
	// Who does not list does not notice either.
	s.damages = s.compares && r.IntN(4) == 0
	return s
}

func (s shape) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "bindings of each cluster %v, %d addresses, fault level %d, pace %d", s.bindings, s.addresses, s.faults, s.pace)
	for _, rule := range []struct {
		on   bool
		text string
	}{
		{s.compares, "passes list the group"},
		{s.switches, "bindings turn exclusive and shared"},
		{s.quota > 0, fmt.Sprintf("quota %d", s.quota)},
		{s.invalid > 0, "an address is refused"},
		{s.loses, "a cluster may be lost"},
		{s.damages, "the table is damaged"},
	} {
		if rule.on {
			fmt.Fprintf(&b, ", %s", rule.text)
		}
	}
	return b.String()
}

func address(i int) ownership.Target { return ownership.Target(fmt.Sprintf("10.0.0.%d:80", i+1)) }
