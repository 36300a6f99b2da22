package soak

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// cause is why a ready pod that was registered is outside the group.
type cause string

// The causes. Only ours is the controllers' fault.
const (
	ours       cause = "by a controller"
	handWork   cause = "by hand"
	lostTable  cause = "while the table was lost"
	frozenCall cause = "frozen between check and call"
)

// outage is a ready pod outside of the group.
type outage struct {
	cluster, target string
	pod             types.UID
	cause           cause
	from            time.Time
}

// outages are those that go on, and the sums of those that ended.
type outages struct {
	open    []outage
	total   map[cause]time.Duration
	longest map[cause]time.Duration
	n       map[cause]int
}

// backIn ends the outages of targets that are in the group again.
func (o *outages) backIn(in sets.Set[string], at time.Time) {
	o.end(at, func(each outage) bool { return in.Has(each.target) })
}

func (o *outages) end(at time.Time, over func(outage) bool) {
	if o.total == nil {
		o.total, o.longest, o.n = map[cause]time.Duration{}, map[cause]time.Duration{}, map[cause]int{}
	}
	var open []outage
	for _, each := range o.open {
		if !over(each) {
			open = append(open, each)
			continue
		}
		took := at.Sub(each.from)
		o.n[each.cause]++
		o.total[each.cause] += took
		o.longest[each.cause] = max(o.longest[each.cause], took)
	}
	o.open = open
}

// open notes the ready pods that a target has left the group with.
func (g *guard) open(v view, t string, why cause) {
	for cluster := range g.stillReady(v, t) {
		g.outages.open = append(g.outages.open, outage{
			cluster: cluster, target: t, pod: g.putIn[t][cluster].pod, cause: why, from: v.At,
		})
	}
}

// sweep ends the outages of pods that are gone, and sees which ready pods
// still wait to enter the group. It is as exact as it is frequent.
func (g *guard) sweep(ctx context.Context) error {
	ready := map[string]pods{}
	for cluster := range g.clusters {
		var err error
		if ready[cluster], err = g.ready(ctx, cluster); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	g.outages.end(now, func(each outage) bool { return ready[each.cluster][each.target] != each.pod })
	g.waits.see(ready, g.in, now)
	return nil
}

// waits are ready pods that are outside the group, mostly because they are
// new: another owner may still be taking their address out, or their own
// controller may be under a fault.
type waits struct {
	since   map[waiting]time.Time
	longest time.Duration
	long    int // longer than longWait
}

const longWait = 10 * time.Second

type waiting struct {
	cluster, target string
	pod             types.UID
}

func (w *waits) see(ready map[string]pods, in sets.Set[string], now time.Time) {
	since := map[waiting]time.Time{}
	for cluster, pods := range ready {
		for t, pod := range pods {
			if in.Has(t) {
				continue
			}
			key := waiting{cluster, t, pod}
			since[key] = now
			if before, seen := w.since[key]; seen {
				since[key] = before
			}
		}
	}
	for key, begun := range w.since {
		if _, still := since[key]; !still {
			w.add(now.Sub(begun))
		}
	}
	w.since = since
}

func (w *waits) add(took time.Duration) {
	w.longest = max(w.longest, took)
	if took > longWait {
		w.long++
	}
}

// waited is the longest time a ready pod has waited to enter so far, and how
// many have waited longer than longWait.
func (g *guard) waited() (longest time.Duration, long int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waits.longest, g.waits.long
}

// outside are the outages of a cause: how many, how long, and the longest.
func (g *guard) outside(why cause) (n int, total, longest time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := &g.outages
	n, total, longest = o.n[why], o.total[why], o.longest[why]
	for _, each := range o.open {
		if each.cause == why {
			n++
			total += time.Since(each.from)
			longest = max(longest, time.Since(each.from))
		}
	}
	return n, total, longest
}
