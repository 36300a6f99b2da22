package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// guardTimeout bounds the reading of the records at each change.
const guardTimeout = 5 * time.Second

// guard looks at every change of the group while it happens, when no other
// can. Who put a target in is what the load balancer saw; who still holds it
// is what the table says at that moment.
type guard struct {
	byHand  string
	records func(context.Context) (ownership.Records, error)

	mu       sync.Mutex
	in       set            // registered targets
	putInBy  map[string]set // callers that registered the target and hold it still
	removals map[string]int // by target, since the start
	tally    tally
	fewest   int // targets in the group since watch
}

// tally counts targets, not calls.
type tally struct {
	changes       int // calls that were looked at
	registrations int
	removals      int
	foreign       []string // removals of what another owner has in the group
	unrecorded    []string // targets in the group that no record names
	blind         []string // the records could not be read
}

func newGuard(byHand string, records func(context.Context) (ownership.Records, error)) *guard {
	return &guard{byHand: byHand, records: records, in: set{}, putInBy: map[string]set{}, removals: map[string]int{}}
}

// observe is for [elbsim.Simulator.Observe].
func (g *guard) observe(m elbsim.Mutation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tally.changes++
	ctx, cancel := context.WithTimeout(context.Background(), guardTimeout)
	defer cancel()
	read, err := g.records(ctx)
	if err != nil {
		g.tally.blind = append(g.tally.blind, err.Error())
		return
	}
	now := set{}
	for _, t := range elbsim.Registered(m.Targets) {
		now[t] = true
	}
	g.forgetFormer(read)
	if m.Call.Action == "RegisterTargets" {
		g.enter(m.Call)
	}
	for t := range g.in.minus(now) {
		g.leave(m.Call.Caller, t)
	}
	g.tally.registrations += len(now.minus(g.in))
	g.in, g.fewest = now, min(g.fewest, len(now))
	g.findUnrecorded(read)
}

func (g *guard) enter(call elbsim.Call) {
	for _, t := range call.Targets {
		if g.putInBy[t] == nil {
			g.putInBy[t] = set{}
		}
		g.putInBy[t][call.Caller] = true
	}
}

// leave judges a removal: the caller must have put the target in, and nobody
// else may have.
func (g *guard) leave(caller, t string) {
	g.tally.removals++
	g.removals[t]++
	others := g.putInBy[t].minus(set{caller: true})
	switch {
	case t == g.byHand:
		g.tally.foreign = append(g.tally.foreign, fmt.Sprintf("%s took out %s, which was put in by hand", caller, t))
	case len(others) > 0:
		g.tally.foreign = append(g.tally.foreign, fmt.Sprintf("%s took out %s, which is in the group for %v", caller, t, others.sorted()))
	}
	delete(g.putInBy, t)
}

// forgetFormer drops the callers that have put a target in and let it go
// since, in favour of another.
func (g *guard) forgetFormer(read ownership.Records) {
	holds := map[string]set{}
	for _, r := range read.Records {
		holds[r.Owner.Cluster] = set{}
		for t := range r.Held {
			holds[r.Owner.Cluster][string(t)] = true
		}
	}
	for t, callers := range g.putInBy {
		for caller := range callers {
			if !holds[caller][t] {
				delete(g.putInBy[t], caller)
			}
		}
	}
}

func (g *guard) findUnrecorded(read ownership.Records) {
	recorded := set{g.byHand: true}
	for _, r := range read.Records {
		for _, entries := range []map[ownership.Target]time.Time{r.Held, r.Releasing} {
			for t := range entries {
				recorded[string(t)] = true
			}
		}
	}
	for t := range g.in.minus(recorded) {
		g.tally.unrecorded = append(g.tally.unrecorded, t)
	}
}

// watch starts to count anew how few targets the group has.
func (g *guard) watch() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fewest = len(g.in)
}

// seen returns the counts since the start, and the fewest targets since watch.
func (g *guard) seen() (t tally, fewest int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tally, g.fewest
}

// removalsOf counts how often a target has been taken out.
func (g *guard) removalsOf(t string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.removals[t]
}

// harmless checks that nobody has taken out what another owner has in the
// group, up to now.
func (g *guard) harmless() check {
	t, _ := g.seen()
	return expect("no cluster took out a target of another", unless(len(t.foreign) == 0, "%v", t.foreign))
}

// recorded checks that every target was in a record, or put in by hand, at
// each change up to now.
func (g *guard) recorded() check {
	t, _ := g.seen()
	return expect("nothing leaked: every target in the group had a record, at every change",
		unless(len(t.unrecorded)+len(t.blind) == 0, "unrecorded %v, not read %v", t.unrecorded, t.blind))
}
