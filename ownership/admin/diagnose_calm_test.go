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
)

// hold has cluster b hold one more target, since a moment ago.
func (b *bench) hold(target ownership.Target, ago time.Duration) {
	r := *b.stored("b")
	seen := r.Revision
	r.Held[target] = time.Now().Add(-ago)
	r.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: seen.WriteID + "+"}
	b.Expect(b.table.Put(b.ctx, r, seen)).To(Succeed())
}

// What looks like trouble and is none.
func TestNothingIsWrongWith(t *testing.T) {
	for name, plant := range map[string]plant{
		"a new target": func(b *bench, _ listings) { b.hold("10.0.0.3:80", time.Minute) },
		"a target of a drained cluster": func(b *bench, _ listings) {
			b.hold("10.0.0.3:80", time.Hour)
			b.table.EditCluster("b", func(c *ownership.Cluster) { c.State = ownership.ClusterDrained })
		},
		"a pod that moves": func(b *bench, _ listings) { b.hold(x, time.Minute) },
		"a group that starts": func(_ *bench, l listings) {
			l[arn] = admin.Health{x: "initial", y: "unhealthy"}
		},
		"the earlier name of a cluster": func(b *bench, _ listings) {
			b.beat("old")
			b.table.EditCluster("old", func(c *ownership.Cluster) { c.Fingerprint, c.State = "uid-a", ownership.ClusterRetired })
		},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(diagnose(t, plant, "a", "b")).To(BeEmpty()) })
	}
}

// A cluster whose entry cannot be read is not one without an entry.
func TestRecordsOfAnUnreadableCluster(t *testing.T) {
	found := diagnose(t, func(b *bench, _ listings) {
		b.record("c", targets{x}, nil)
		b.table.BreakCluster("c", "no state")
	}, "a", "b")
	g := NewWithT(t)
	g.Expect(found).To(HaveLen(1))
	g.Expect(found[0].Check).To(Equal(admin.CheckClusterEntry))
}

// A group in which only unknown clusters have records is looked at if somebody
// knows of it.
func TestGroupsOfUnknownClusters(t *testing.T) {
	b := newBench(t)
	b.record("ghost", targets{x}, nil)
	l := listings{arn: {x: "healthy"}}
	s, err := admin.TakeSurvey(t.Context(), b.table, l, nil)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(s.Groups).To(BeEmpty())
	s, err = admin.TakeSurvey(t.Context(), b.table, l, []ownership.GroupARN{arn, arn})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(s.Groups).To(HaveLen(1))
}

// While the records cannot be read, nobody knows which targets are external.
func TestSurveyWithoutRecords(t *testing.T) {
	b := newBench(t)
	b.record("a", targets{x}, nil)
	b.table.Intercept(func(op memory.Op) memory.Fault {
		if op.Kind == memory.Records {
			return memory.Refuse(ownership.ErrThrottled)
		}
		return memory.Fault{}
	})
	s, err := admin.TakeSurvey(t.Context(), b.table, listings{arn: {x: "healthy"}}, nil)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(s.Groups[0].External).To(BeEmpty())
	b.Expect(s.Groups[0].Problem).To(ContainSubstring("throttling"))
}

// slow takes its time for each group.
type slow struct {
	listings
	each time.Duration
}

func (s slow) Health(ctx context.Context, group ownership.GroupARN) (admin.Health, error) {
	if err := sleep(ctx, s.each); err != nil {
		return nil, err
	}
	return s.listings.Health(ctx, group)
}

// sleep returns after d, or with the error of the context before that.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A heartbeat is no older for the groups that are read after it, and neither is
// a target.
func TestSurveyThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x}, nil)
		b.beat("a")
		s, err := admin.TakeSurvey(t.Context(), b.table, slow{listings{arn: {}}, time.Hour}, nil)
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(s.At.Sub(s.ReadAt)).To(Equal(time.Hour))
		b.Expect(admin.Diagnose(s, admin.Place{}, 0)).To(BeEmpty())
	})
}

// What was read by the deadline is kept, and what was not is named once.
func TestSurveyThatRunsOutOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.beat("a")
		l := listings{}
		for i := range 40 {
			group := ownership.GroupARN(fmt.Sprintf("arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/g%02d/0123456789abcdef", i))
			l[group] = admin.Health{x: "healthy"}
			b.Expect(b.table.Put(b.ctx, ownership.Record{
				Group: group, Owner: owner("a"), BindingUID: "uid", Held: map[ownership.Target]time.Time{x: time.Now()},
				Revision: ownership.Revision{Version: 1, WriteID: string(group)},
			}, ownership.Revision{})).To(Succeed())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		s, err := admin.TakeSurvey(ctx, b.table, slow{l, 10 * time.Second}, nil)
		b.Expect(err).NotTo(HaveOccurred())
		var late []string
		for _, g := range s.Groups {
			if g.Late {
				late = append(late, g.TargetGroup.Name())
				continue
			}
			b.Expect(g.Problem).To(BeEmpty())
			b.Expect(g.Owners.Owners).To(HaveLen(1))
		}
		b.Expect(late).To(HaveLen(24), "four at once, for 40 of the 45 seconds")
		found := admin.Diagnose(s, admin.Place{}, 0)
		b.Expect(found).To(HaveLen(1))
		b.Expect(found[0].Check).To(Equal(admin.CheckGroupUnread))
		b.Expect(found[0].What).To(ContainSubstring("24 of 40, so that their targets are not looked at: g16, g17, g18, and 21 more"))
	})
}

func TestSurveyThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.record("a", targets{x}, nil)
		b.beat("a")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := admin.TakeSurvey(ctx, b.table, slow{listings{arn: {}}, time.Hour}, nil)
		b.Expect(err).To(MatchError(context.Canceled))
	})
}
