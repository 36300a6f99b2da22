package soak

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// guardTimeout bounds what the guard reads at one change of the group.
const guardTimeout = 10 * time.Second

// facts are what the guard asks of the world.
type facts struct {
	records func(context.Context) (ownership.Records, error)
	ready   func(ctx context.Context, cluster string) (pods, error)
	// excused tells whether the caller can have been frozen between the check
	// of its deadline and a call that lands now.
	excused func(caller string, landed time.Time) bool
}

// guard judges each change of the group as it lands, when no other can. Who
// has put a target in is what the load balancer saw, who holds it is what the
// table says at that moment, and which pod it is for is what the API server
// says.
type guard struct {
	facts
	clusters sets.Set[string]
	external sets.Set[string]
	fail     func(*problem)

	mu        sync.Mutex
	in        sets.Set[string]
	putIn     map[string]map[string]registration // by target and cluster, while the target is in
	lastIn    map[string]string                  // the cluster that registered a target last
	tableLost bool
	outages   outages
	waits     waits
	tally     tally
}

// registration is the last call of a cluster for a target that has landed.
type registration struct {
	at  time.Time // when it reached the load balancer
	pod types.UID // that was ready at the address then; empty for none
}

// tally counts targets, not calls.
type tally struct {
	calls, registrations, removals, moves int

	foreign, lost, leaks, touched int // violations
	excused                       int // frozen between check and call
	whileTableLost                int // would be violations at any other time
}

func newGuard(f facts, clusters, external sets.Set[string], fail func(*problem)) *guard {
	return &guard{
		facts: f, clusters: clusters, external: external, fail: fail,
		in: external.Clone(), putIn: map[string]map[string]registration{}, lastIn: map[string]string{},
	}
}

// observe is for [elbsim.Simulator.Observe].
func (g *guard) observe(m elbsim.Mutation) {
	ctx, cancel := context.WithTimeout(context.Background(), guardTimeout)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.see(ctx, m)
	g.tally.calls++
	if m.Call.Action == actionRegister {
		g.enter(v)
	}
	for t := range g.in.Difference(v.in) {
		g.leave(v, t)
	}
	g.tally.registrations += v.in.Difference(g.in).Len()
	g.in = v.in
	g.outages.backIn(v.in, m.At)
	g.judgeExternal(v)
	g.judgeUnrecorded(v)
}

func (g *guard) enter(v view) {
	caller := v.Call.Caller
	if !g.clusters.Has(caller) {
		return
	}
	for _, t := range v.Call.Targets {
		if g.putIn[t] == nil {
			g.putIn[t] = map[string]registration{}
		}
		g.putIn[t][caller] = registration{at: v.Call.Time, pod: v.podFor(t)}
		if last := g.lastIn[t]; last != "" && last != caller {
			g.tally.moves++
		}
		g.lastIn[t] = caller
	}
}

// leave judges that a target has left the group.
func (g *guard) leave(v view, t string) {
	caller := v.Call.Caller
	defer delete(g.putIn, t)
	if !g.clusters.Has(caller) {
		g.open(v, t, handWork)
		return
	}
	g.tally.removals++
	holder, own := g.holder(v, t), g.holds(v, t, caller) || g.stillReady(v, t).Has(caller)
	switch {
	case holder == "" && !own:
	case g.tableLost:
		g.tally.whileTableLost++
		g.open(v, t, lostTable)
	case g.tally.excused == 0 && v.late(t) && g.excused(caller, v.At):
		g.tally.excused++
		g.open(v, t, frozenCall)
	case holder != "":
		g.tally.foreign++
		g.open(v, t, ours)
		g.fail(&problem{at: v.At, target: t, what: fmt.Sprintf("%s took out %s, which %s", caller, t, holder)})
	default:
		g.tally.lost++
		g.open(v, t, ours)
		g.fail(&problem{at: v.At, target: t, what: fmt.Sprintf("%s took out %s, which it wants itself", caller, t)})
	}
}

// holder says which other cluster holds the target, empty if none does. While
// records are missing the pods stand in for them.
func (g *guard) holder(v view, t string) string {
	for cluster, put := range g.putIn[t] {
		switch {
		case cluster == v.Call.Caller:
		case g.holds(v, t, cluster):
			return fmt.Sprintf("%s holds since %s and registered at %s", cluster, clockTime(v.held[cluster][t]), clockTime(put.at))
		case g.tableLost && g.stillReady(v, t).Has(cluster):
			return cluster + " has a ready pod at"
		}
	}
	return ""
}

func (g *guard) judgeExternal(v view) {
	named := sets.New(v.Call.Targets...).Intersection(g.external)
	if g.clusters.Has(v.Call.Caller) && named.Len() > 0 {
		g.tally.touched++
		t := sets.List(named)[0]
		g.fail(&problem{at: v.At, target: t, what: fmt.Sprintf("%s of %s names %s, which nobody recorded", v.Call.Action, v.Call.Caller, t)})
	}
}

func (g *guard) judgeUnrecorded(v view) {
	if g.tableLost || v.blind {
		return
	}
	left := v.in.Difference(v.recorded).Difference(g.external)
	if left.Len() > 0 {
		g.tally.leaks += left.Len()
		t := sets.List(left)[0]
		g.fail(&problem{at: v.At, target: t, what: "in the group without a record: " + strings.Join(sets.List(left), ", ")})
	}
}

// loseTable begins or ends the time in which records may be missing.
func (g *guard) loseTable(lost bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tableLost = lost
}

func (g *guard) seen() tally {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tally
}
