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

// view is the world at the moment of one change.
type view struct {
	elbsim.Mutation
	in       sets.Set[string]
	held     map[string]map[string]time.Time // by cluster and target
	recorded sets.Set[string]
	pods     map[string]pods // by cluster, of those that this change is about
	blind    bool            // the records cannot be read
}

func (g *guard) see(ctx context.Context, m elbsim.Mutation) view {
	v := view{Mutation: m, in: sets.New(elbsim.Registered(m.Targets)...), held: map[string]map[string]time.Time{}, recorded: sets.New[string](), pods: map[string]pods{}}
	read, err := g.records(ctx)
	if err != nil && !g.tableLost {
		g.fail(&problem{at: m.At, what: fmt.Sprintf("the records cannot be read: %v", err)})
	}
	v.blind = err != nil
	for _, r := range read.Records {
		if v.held[r.Owner.Cluster] == nil {
			v.held[r.Owner.Cluster] = map[string]time.Time{}
		}
		for t, since := range r.Held {
			v.held[r.Owner.Cluster][string(t)] = since
			v.recorded.Insert(string(t))
		}
		for t := range r.Releasing {
			v.recorded.Insert(string(t))
		}
	}
	for cluster := range g.concerned(v) {
		ready, err := g.ready(ctx, cluster)
		if err != nil {
			g.fail(&problem{at: m.At, what: err.Error()})
		}
		v.pods[cluster] = ready
	}
	return v
}

// concerned are the clusters whose pods have to be known.
func (g *guard) concerned(v view) sets.Set[string] {
	concerned := sets.New[string]()
	if g.clusters.Has(v.Call.Caller) {
		concerned.Insert(v.Call.Caller)
	}
	for t := range g.in.Difference(v.in) {
		for cluster := range g.putIn[t] {
			concerned.Insert(cluster)
		}
	}
	return concerned
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
		g.putIn[t][caller] = registration{at: v.Call.Time, pod: v.pods[caller][t]}
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
	holder, own := g.holder(v, t), g.stillReady(v, t).Has(caller)
	switch {
	case holder == "" && !own:
	case g.tableLost:
		g.tally.whileTableLost++
		g.open(v, t, lostTable)
	case g.tally.excused == 0 && g.excused(caller, v.At):
		g.tally.excused++
		g.open(v, t, frozenCall)
	case holder != "":
		g.tally.foreign++
		g.open(v, t, ours)
		g.fail(&problem{at: v.At, target: t, what: fmt.Sprintf("%s took out %s, which %s", caller, t, holder)})
	default:
		g.tally.lost++
		g.open(v, t, ours)
		g.fail(&problem{at: v.At, target: t, what: fmt.Sprintf("%s took out %s, which is a ready pod of its own", caller, t)})
	}
}

// holder says which other cluster holds the target and has registered it,
// empty if none does. To hold it is to name it in a record; to have registered
// it, that a call has landed since that entry was written. While records are
// missing the pods stand in for them.
func (g *guard) holder(v view, t string) string {
	for cluster, put := range g.putIn[t] {
		if cluster == v.Call.Caller {
			continue
		}
		if since, holds := v.held[cluster][t]; holds && !put.at.Before(since) {
			return fmt.Sprintf("%s holds since %s and registered at %s", cluster, clockTime(since), clockTime(put.at))
		}
		if g.tableLost && g.stillReady(v, t).Has(cluster) {
			return cluster + " has a ready pod at"
		}
	}
	return ""
}

// stillReady are the clusters whose pod the target was registered for and is
// there, as it was.
func (g *guard) stillReady(v view, t string) sets.Set[string] {
	ready := sets.New[string]()
	for cluster, put := range g.putIn[t] {
		if put.pod != "" && v.pods[cluster][t] == put.pod {
			ready.Insert(cluster)
		}
	}
	return ready
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
