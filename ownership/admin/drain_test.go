package admin_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/memory"
)

func (b *bench) state(id string) ownership.ClusterState {
	entry, err := b.table.Cluster(b.ctx, id)
	b.Expect(err).NotTo(HaveOccurred())
	return entry.State
}

// The heartbeat that comes in between stays, and so does the state.
func TestSetStateBesideAHeartbeat(t *testing.T) {
	b, beats := newBench(t), 0
	b.table.Intercept(func(op memory.Op) memory.Fault {
		if op.Kind == memory.PutCluster && beats == 0 {
			beats++
			b.beat("a")
		}
		return memory.Fault{}
	})
	b.Expect(admin.SetState(t.Context(), b.table, "a", ownership.ClusterDrained, ownership.ClusterActive)).To(Succeed())
	entry, err := b.table.Cluster(t.Context(), "a")
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(entry.State).To(Equal(ownership.ClusterDrained))
	b.Expect(entry.HeartbeatSeq).To(Equal(int64(2)))
	b.Expect(entry.Version).To(Equal(int64(3)))
}

// What another operator did meanwhile is not undone.
func TestSetStateOfAClusterThatWasRetiredMeanwhile(t *testing.T) {
	b, once := newBench(t), true
	b.table.Intercept(func(op memory.Op) memory.Fault {
		if op.Kind == memory.PutCluster && once {
			once = false
			b.Expect(admin.SetState(b.ctx, b.table, "a", ownership.ClusterRetired, ownership.ClusterActive)).To(Succeed())
		}
		return memory.Fault{}
	})
	err := admin.SetState(t.Context(), b.table, "a", ownership.ClusterDrained, ownership.ClusterActive)
	b.Expect(err).To(MatchError(ContainSubstring("cluster a is Retired")))
	b.Expect(b.state("a")).To(Equal(ownership.ClusterRetired))
}

func TestPlanDrain(t *testing.T) {
	plan := func(healthy int, others ...string) admin.DrainPlan {
		p := admin.DrainPlan{Groups: []admin.GroupDrain{{TargetGroup: arn, Leave: 1, Healthy: healthy}}}
		for _, id := range others {
			p.Others = append(p.Others, admin.Cluster{ID: id})
		}
		return p
	}
	for name, c := range map[string]struct {
		prepare func(*bench)
		health  listing
		plan    admin.DrainPlan
	}{
		"another cluster serves": {
			func(b *bench) { b.record("b", targets{y}, nil) }, listing{x: "healthy", y: "healthy"}, plan(1, "b"),
		},
		"another cluster is unhealthy": {
			func(b *bench) { b.record("b", targets{y}, nil) }, listing{x: "healthy", y: "unhealthy"}, plan(0),
		},
		"another cluster lets go": {
			func(b *bench) { b.record("b", nil, targets{y}) }, listing{x: "healthy", y: "healthy"}, plan(0),
		},
		"both hold the same target": {
			func(b *bench) { b.record("b", targets{x}, nil) }, listing{x: "healthy"}, plan(1, "b"),
		},
		"two others hold the same target": {
			func(b *bench) { b.record("ab", targets{y}, nil); b.record("b", targets{y}, nil) },
			listing{x: "healthy", y: "healthy"}, plan(1, "ab", "b"),
		},
		"another cluster is drained as well": {
			func(b *bench) {
				b.record("b", targets{y}, nil)
				b.Expect(admin.SetState(b.ctx, b.table, "b", ownership.ClusterDrained, ownership.ClusterActive)).To(Succeed())
			}, listing{x: "healthy", y: "healthy"}, plan(0),
		},
		"the group is not shared, and not left": {
			func(b *bench) { b.alone("a") }, listing{x: "healthy"}, admin.DrainPlan{},
		},
		"only targets that nobody recorded": {
			func(*bench) {}, listing{x: "healthy", "10.9.9.9:80": "healthy"}, plan(0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.record("a", targets{x}, nil)
			c.prepare(b)
			got, err := admin.PlanDrain(t.Context(), b.table, c.health, "a")
			b.Expect(err).NotTo(HaveOccurred())
			for i, other := range got.Others {
				got.Others[i] = admin.Cluster{ID: other.ID}
			}
			b.Expect(got).To(Equal(c.plan))
		})
	}
}

// The floor is what a group has to keep, so that as many are enough.
func TestGroupsBelowTheFloor(t *testing.T) {
	g := NewWithT(t)
	few, enough := admin.GroupDrain{TargetGroup: "few", Healthy: 1}, admin.GroupDrain{TargetGroup: "enough", Healthy: 2}
	plan := admin.DrainPlan{Groups: []admin.GroupDrain{few, enough}}
	g.Expect(plan.Below(2)).To(Equal([]admin.GroupDrain{few}))
	g.Expect(plan.Below(0)).To(BeEmpty())
	g.Expect(plan.Groups).To(Equal([]admin.GroupDrain{few, enough}))
}

func TestWaitEmptyIsForSharedGroups(t *testing.T) {
	b := newBench(t)
	b.record("a", targets{x}, nil)
	b.alone("a")
	exclusive, err := admin.WaitEmpty(t.Context(), b.table, "a", func(left int) { b.Expect(left).To(BeZero()) })
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(exclusive).To(Equal(1))
}

// A record that cannot be read may name any target.
func TestDrainOfAClusterWithAnUnreadableRecord(t *testing.T) {
	b := newBench(t)
	b.record("a", targets{x}, nil)
	b.record("ab", targets{y}, nil)
	b.table.Break(ownership.Key{Group: arn, Owner: owner("a")}, "attribute held is missing")

	_, err := admin.PlanDrain(t.Context(), b.table, listing{y: "healthy"}, "a")
	b.Expect(err).To(MatchError(And(ContainSubstring("a/shop/web of target group blue"), ContainSubstring("attribute held is missing"))))
	_, err = admin.WaitEmpty(t.Context(), b.table, "a", func(int) {})
	b.Expect(err).To(MatchError(ContainSubstring("attribute held is missing")))

	_, err = admin.PlanDrain(t.Context(), b.table, listing{y: "healthy"}, "ab")
	b.Expect(err).NotTo(HaveOccurred())
}

func TestWaitEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x, y}, nil)
		go func() {
			for version, left := range []targets{{y}, {}} {
				time.Sleep(20 * time.Second)
				r := ownership.Record{Group: arn, Owner: owner("a"), BindingUID: "uid"}.Clone()
				seen := ownership.Revision{Version: int64(version) + 1, WriteID: "of-a" + "++"[:version]}
				r.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: seen.WriteID + "+"}
				for _, target := range left {
					r.Held[target] = time.Now()
				}
				b.Expect(b.table.Put(b.ctx, r, seen)).To(Succeed())
			}
		}()
		var progress []int
		exclusive, err := admin.WaitEmpty(t.Context(), b.table, "a", func(left int) { progress = append(progress, left) })
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(exclusive).To(BeZero())
		b.Expect(progress).To(Equal([]int{2, 1, 0}))
	})
}
