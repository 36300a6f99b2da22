package admin_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// group is a target group in which each target has a health.
type group struct {
	targets admin.Health
	around  func()                      // runs before and after each call
	removed func(t ownership.Target)    // a target leaves
	added   func(ts []ownership.Target) // targets were registered
}

func (g *group) call(do func()) {
	if g.around != nil {
		g.around()
		defer g.around()
	}
	do()
}

func (g *group) Health(context.Context, ownership.GroupARN) (health admin.Health, err error) {
	g.call(func() {
		health = admin.Health{}
		for t, state := range g.targets {
			health[t] = state
		}
	})
	return health, nil
}

func (g *group) Register(_ context.Context, a ownership.Admission) ownership.Result {
	g.call(func() {
		for _, t := range a.Targets() {
			if g.targets[t] == "" {
				g.targets[t] = "initial"
			}
		}
		if g.added != nil {
			g.added(a.Targets())
		}
	})
	return ownership.Result{Done: a.Targets()}
}

func (g *group) Deregister(_ context.Context, r ownership.Removal) ownership.Result {
	g.call(func() {
		for _, t := range r.Targets() {
			if _, listed := g.targets[t]; listed && g.removed != nil {
				g.removed(t)
			}
			delete(g.targets, t)
		}
	})
	return ownership.Result{Done: r.Targets()}
}

func (b *bench) takeOut(g *group) admin.TakeOut {
	return admin.TakeOut{Table: b.table, Groups: g, Cluster: "a"}
}

// stored is what the table holds of a cluster, or nil.
func (b *bench) stored(cluster string) *ownership.Record {
	read, err := b.table.Records(b.ctx, arn)
	b.Expect(err).NotTo(HaveOccurred())
	for _, r := range read.Records {
		if r.Owner.Cluster == cluster {
			return &r
		}
	}
	return nil
}

func TestTakeOut(t *testing.T) {
	const leaving ownership.Target = "10.0.0.3:80"
	for name, c := range map[string]struct {
		also  func(*bench, *admin.TakeOut)
		stay  int
		group admin.Health
		held  targets // by the cluster that is gone, afterwards
	}{
		"what is healthy stays": {
			func(*bench, *admin.TakeOut) {}, 1, admin.Health{x: "healthy"}, targets{x},
		},
		"healthy ones as well": {
			func(_ *bench, o *admin.TakeOut) { o.Healthy = true }, 0, admin.Health{}, nil,
		},
		"what another owner holds stays in the group": {
			func(b *bench, o *admin.TakeOut) { o.Healthy = true; b.record("b", targets{x, y}, nil) }, 0,
			admin.Health{x: "healthy", y: "unhealthy"}, nil,
		},
		"another group": {
			func(_ *bench, o *admin.TakeOut) { o.Only = arn + "0" }, 0,
			admin.Health{x: "healthy", y: "unhealthy", leaving: "unhealthy"}, targets{x, y},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.record("a", targets{x, y}, targets{leaving})
				g := &group{targets: admin.Health{x: "healthy", y: "unhealthy", leaving: "unhealthy"}}
				o := b.takeOut(g)
				c.also(b, &o)
				stay, err := o.Run(t.Context())
				b.Expect(err).NotTo(HaveOccurred())
				b.Expect(stay).To(Equal(c.stay))
				b.Expect(g.targets).To(Equal(c.group))
				if c.held == nil {
					b.Expect(b.stored("a")).To(BeNil())
					return
				}
				b.Expect(b.stored("a").Held).To(HaveLen(len(c.held)))
				for _, held := range c.held {
					b.Expect(b.stored("a").Held).To(HaveKey(held))
				}
			})
		})
	}
}

// Nothing but healthy targets: there is nothing to do, nor to write.
// unreadable is groups of which one cannot be listed.
type unreadable struct {
	*group
	arn ownership.GroupARN
}

func (u unreadable) Health(ctx context.Context, arn ownership.GroupARN) (admin.Health, error) {
	if arn == u.arn {
		return nil, ownership.ErrGroupForbidden
	}
	return u.group.Health(ctx, arn)
}

func TestTakeOutGoesOnBesideAGroupThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x}, nil)
		first := ownership.Record{
			Group: "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/aaa/0123456789abcdef", Owner: owner("a"), BindingUID: "uid",
			Held: map[ownership.Target]time.Time{y: time.Now()}, Revision: ownership.Revision{Version: 1, WriteID: "of-a"},
		}
		b.Expect(b.table.Put(b.ctx, first, ownership.Revision{})).To(Succeed())
		g := &group{targets: admin.Health{x: "unhealthy"}}
		out := admin.TakeOut{Table: b.table, Groups: unreadable{g, first.Group}, Cluster: "a"}

		_, err := out.Run(t.Context())
		b.Expect(err).To(MatchError(ownership.ErrGroupForbidden))
		b.Expect(err).To(MatchError(ContainSubstring("out of aaa")))
		b.Expect(g.targets).To(BeEmpty())
		b.Expect(b.stored("a")).To(BeNil())
	})
}

func TestTakeOutWritesNothingForHealthyTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x}, nil)
		stay, err := b.takeOut(&group{targets: admin.Health{x: "healthy"}}).Run(t.Context())
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(stay).To(Equal(1))
		b.Expect(b.stored("a").Version).To(Equal(int64(1)))
	})
}

// The controller of a cluster that was taken for dead writes its record.
func TestTakeOutOfAClusterThatIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x}, nil)
		g := &group{targets: admin.Health{x: "unhealthy"}}
		writes := 0
		b.table.Intercept(func(op memory.Op) memory.Fault {
			if op.Kind != memory.Put {
				return memory.Fault{}
			}
			if writes++; writes == 1 {
				r := *b.stored("a")
				seen := r.Revision
				r.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: "alive"}
				b.Expect(b.table.Put(b.ctx, r, seen)).To(Succeed())
			}
			return memory.Fault{}
		})
		_, err := b.takeOut(g).Run(t.Context())
		b.Expect(err).To(MatchError(admin.ErrAlive))
		b.Expect(g.targets).To(HaveKey(x))
	})
}

// S1, whenever another owner comes to claim the target: at each call of the
// table and before and after each call of the load balancer.
func TestTakeOutBesideAClaim(t *testing.T) {
	points := 1
	for at := 0; at < points; at++ {
		synctest.Test(t, func(t *testing.T) { points = claimAt(t, at) })
	}
	NewWithT(t).Expect(points).To(BeNumerically(">", 10))
}

// claimAt has cluster b make a pass at that point of the run and at each one
// that follows, and returns how many points there are.
func claimAt(t *testing.T, at int) int {
	b := newBench(t)
	b.record("a", targets{x}, nil)
	g := &group{targets: admin.Health{x: "unhealthy"}}
	var other *ownership.Ledger
	writes, points, inside, registered := 0, 0, false, false
	other = ownership.NewLedger(b.table, ownership.Identity{Group: arn, Owner: owner("b"), BindingUID: "uid"},
		ownership.Env{Now: time.Now, NewID: func() string { writes++; return fmt.Sprint("b", writes) }})
	claim := func() {
		other.Begin(time.Now())
		if other.Loaded() {
			b.Expect(other.Look(b.ctx)).To(Succeed())
		}
		p := pass.Pass{Ledger: other, Group: g, Binding: plan.Binding{Want: ownership.Set{x: true}}, Now: time.Now}
		b.Expect(p.Run(b.ctx)).To(Succeed())
	}
	step := func() {
		if inside {
			return
		}
		if points++; points > at {
			inside = true
			claim()
			inside = false
		}
	}
	g.around = step
	g.added = func([]ownership.Target) { registered = registered || inside }
	g.removed = func(target ownership.Target) {
		if registered && other.Holds(target) {
			t.Errorf("claim at point %d: %s was taken out", at, target)
		}
	}
	b.table.Intercept(func(memory.Op) memory.Fault { step(); return memory.Fault{} })

	o := b.takeOut(g)
	o.Healthy = true
	_, err := o.Run(t.Context())
	b.Expect(err).NotTo(HaveOccurred())
	b.table.Intercept(nil)
	g.around = nil
	inside = true
	claim()
	b.Expect(g.targets).To(HaveKey(x), "claim at point %d", at)
	b.Expect(b.stored("a")).To(BeNil())
	return points
}

func TestWatchSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, began := newBench(t), time.Now()
		b.Expect(admin.WatchSilence(t.Context(), b.table, "a", admin.Silence)).To(Succeed())
		b.Expect(time.Since(began)).To(Equal(admin.Silence))

		go func() { time.Sleep(admin.Silence - time.Second); b.beat("a") }()
		b.Expect(admin.WatchSilence(t.Context(), b.table, "a", admin.Silence)).To(MatchError(admin.ErrAlive))
	})
}
