package admin_test

import (
	"testing"
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
	key := ownership.Key{Group: arn, Owner: owner("ghost")}
	s, err = admin.TakeSurvey(t.Context(), b.table, l, []ownership.Key{key, key})
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
