package soak

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// view is the world at the moment of one change.
type view struct {
	elbsim.Mutation
	in       sets.Set[string]
	held     map[string]map[string]time.Time // by cluster and target
	flagged  map[string]map[string]time.Time // by cluster and target: the last write of a record that releases it
	recorded sets.Set[string]
	pods     map[string]pods // by cluster, of those that this change is about
	blind    bool            // the records cannot be read
}

func (g *guard) see(ctx context.Context, m elbsim.Mutation) view {
	v := view{Mutation: m, in: sets.New(elbsim.Registered(m.Targets)...), held: map[string]map[string]time.Time{}, flagged: map[string]map[string]time.Time{}, recorded: sets.New[string](), pods: map[string]pods{}}
	read, err := g.records(ctx)
	if err != nil && !g.tableLost {
		g.fail(&problem{at: m.At, what: fmt.Sprintf("the records cannot be read: %v", err)})
	}
	v.blind = err != nil
	for _, r := range read.Records {
		if v.held[r.Owner.Cluster] == nil {
			v.held[r.Owner.Cluster], v.flagged[r.Owner.Cluster] = map[string]time.Time{}, map[string]time.Time{}
		}
		for t, since := range r.Held {
			v.held[r.Owner.Cluster][string(t)] = since
			v.recorded.Insert(string(t))
		}
		for t := range r.Releasing {
			v.flagged[r.Owner.Cluster][string(t)] = r.UpdatedAt
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

// late tells whether a removal lands when others wait for it no longer: they
// count from when they first saw the caller's last flag, or the caller's
// record does not name the target any more.
func (v view) late(t string) bool {
	flagged, releases := v.flagged[v.Call.Caller][t]
	return !releases || v.At.Sub(flagged) > ownership.Settle
}

// podFor is the caller's pod that a registration is for. One that lands late
// tells of none: the address may have a new pod by then, which the caller has
// not claimed yet.
func (v view) podFor(t string) types.UID {
	if v.At.Sub(v.Call.Time) > lateFrom {
		return ""
	}
	return v.pods[v.Call.Caller][t]
}

// lateFrom is far above what the simulator takes to carry out a call.
const lateFrom = time.Second

// holds tells whether the cluster's records name the target, and a call of
// the cluster has registered it since that entry was written.
func (g *guard) holds(v view, t, cluster string) bool {
	since, named := v.held[cluster][t]
	put, registered := g.putIn[t][cluster]
	return named && registered && !put.at.Before(since)
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
