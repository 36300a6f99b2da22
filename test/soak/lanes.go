package soak

import (
	"math/rand/v2"
	"time"
)

// kind is a fault and how long it lasts. A draw from 0 to 1 says how long, and
// another how bad.
type kind struct {
	name              string
	shortest, longest time.Duration
}

// lane is one thing that fails in one way at a time.
type lane struct {
	name         string // what fails
	site         *site  // nil: the lane of the person
	toTable      bool   // of the two ways
	kinds        []kind
	least, most  time.Duration // of the pause before a fault
	random       *rand.Rand
	longestFault time.Duration // whatever the kind allows
}

// The faults.
const (
	killed    = "killed"     // kill -9, started again afterwards
	frozen    = "frozen"     // SIGSTOP, SIGCONT afterwards
	cutOff    = "cut off"    // connections are closed, new ones refused
	blackHole = "black hole" // connections stay, nothing passes
	slow      = "slow"       // each way takes long
	reset     = "resets"     // each connection is reset, before the call or before its answer
	throttled = "throttled"  // all calls are refused, rate exceeded
	late      = "late calls" // the connection is reset, the call lands later
	byHand    = "taken out"  // a person deregisters a target
	tableLost = "table lost" // deleted and created anew
	storm     = "storm"      // everything throttles for everybody
)

func process() []kind {
	return []kind{
		{killed, 0, 5 * time.Second},
		{frozen, 2 * time.Second, 3 * time.Minute},
	}
}

func wayToTable() []kind {
	return []kind{
		{cutOff, 3 * time.Second, 20 * time.Second},
		{blackHole, 3 * time.Second, 20 * time.Second},
		{slow, 5 * time.Second, 20 * time.Second},
		{reset, 3 * time.Second, 15 * time.Second},
		{throttled, 3 * time.Second, 20 * time.Second},
	}
}

func wayToELB() []kind { return append(wayToTable(), kind{late, 5 * time.Second, 15 * time.Second}) }

func person() []kind { return []kind{{name: byHand}} }

// newLanes has draws of its own for each lane, so that lanes that run side by
// side each get the same faults from the same seed.
func newLanes(sites []*site, longestFault time.Duration, random func(number uint64) *rand.Rand) []*lane {
	lanes := []*lane{{name: "person", kinds: person()}}
	for _, at := range sites {
		lanes = append(lanes,
			&lane{name: at.name + "'s controller", site: at, kinds: process()},
			&lane{name: at.name + " to the table", site: at, kinds: wayToTable(), toTable: true},
			&lane{name: at.name + " to the load balancer", site: at, kinds: wayToELB()},
		)
	}
	for i, l := range lanes {
		l.least, l.most, l.longestFault = 8*time.Second, 25*time.Second, longestFault
		l.random = random(sourceLanes + uint64(i))
	}
	return lanes
}

// strike is what a lane does next.
type strike struct {
	pause time.Duration // before it
	kind  string
	hold  time.Duration // how long it lasts
	size  float64       // from 0 to below 1: how bad it is
}

// next draws. A lane draws the same number of times for every strike.
func (l *lane) next() strike {
	pause := between(l.least, l.most, l.random.Float64())
	k := l.kinds[l.random.IntN(len(l.kinds))]
	longest := k.longest
	if l.longestFault > 0 {
		longest = max(k.shortest, min(longest, l.longestFault))
	}
	share := l.random.Float64() // squared: short ones are more frequent
	return strike{pause: pause, kind: k.name, hold: between(k.shortest, longest, share*share), size: l.random.Float64()}
}

func between(least, most time.Duration, share float64) time.Duration {
	return least + time.Duration(share*float64(most-least))
}
