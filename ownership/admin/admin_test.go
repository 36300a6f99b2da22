package admin_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/plan"
)

const (
	arn ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"
	x   ownership.Target   = "10.0.0.1:80"
	y   ownership.Target   = "10.0.0.2:80"
)

type targets = []ownership.Target

// listing is what the load balancer lists.
type listing admin.Health

func (l listing) Health(context.Context, ownership.GroupARN) (admin.Health, error) {
	return admin.Health(l), nil
}

// bench is a table with the clusters a and b.
type bench struct {
	*WithT
	ctx   context.Context
	table *memory.Table
}

func newBench(t *testing.T) *bench {
	b := &bench{NewWithT(t), t.Context(), memory.New()}
	b.beat("a")
	b.beat("b")
	return b
}

// beat writes the heartbeat of a cluster.
func (b *bench) beat(id string) {
	entry, err := b.table.Cluster(b.ctx, id)
	if err != nil {
		entry = ownership.Cluster{ID: id, Fingerprint: "uid-" + id, State: ownership.ClusterActive}
	}
	seen := entry.Revision
	entry.HeartbeatSeq++
	entry.HeartbeatAt = time.Now()
	entry.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: seen.WriteID + "+"}
	b.Expect(b.table.PutCluster(b.ctx, entry, seen)).To(Succeed())
}

func owner(cluster string) ownership.Owner {
	return ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}
}

func (b *bench) record(cluster string, held, releasing targets) {
	r := ownership.Record{
		Group: arn, Owner: owner(cluster), BindingUID: "uid", UpdatedAt: time.Now(),
		Revision: ownership.Revision{Version: 1, WriteID: "of-" + cluster},
	}.Clone()
	for _, t := range held {
		r.Held[t] = time.Now()
	}
	for _, t := range releasing {
		r.Releasing[t] = time.Now()
	}
	b.Expect(b.table.Put(b.ctx, r, ownership.Revision{})).To(Succeed())
}

// alone has the record of a cluster say that its binding has the group for
// itself.
func (b *bench) alone(cluster string) {
	r := *b.stored(cluster)
	seen := r.Revision
	r.Exclusive, r.Revision = true, ownership.Revision{Version: seen.Version + 1, WriteID: "alone"}
	b.Expect(b.table.Put(b.ctx, r, seen)).To(Succeed())
}

// Two readings tell a silent cluster, whatever the clocks of the clusters say.
func TestWatchingTheHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		go func() {
			for range 3 {
				time.Sleep(10 * time.Second)
				b.beat("b")
			}
		}()
		list, err := admin.Clusters(t.Context(), b.table, 35*time.Second)
		b.Expect(err).NotTo(HaveOccurred())
		b.Expect(list.Clusters[0].Watched).To(Equal(&admin.Watched{Seconds: 35, Heartbeats: 0}))
		b.Expect(list.Clusters[1].Watched).To(Equal(&admin.Watched{Seconds: 35, Heartbeats: 3}))
	})
}

func TestOneBrokenEntryHidesNoOther(t *testing.T) {
	b := newBench(t)
	b.table.BreakCluster("c", "no state")
	list, err := admin.Clusters(t.Context(), b.table, 0)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(list.Clusters).To(HaveLen(2))
	b.Expect(list.Unreadable).To(Equal([]admin.Unreadable{{Item: "c", Reason: "no state"}}))
}

func TestShowClusterThatIsNotThere(t *testing.T) {
	b := newBench(t)
	_, err := admin.ShowCluster(t.Context(), b.table, "c", 0)
	b.Expect(err).To(MatchError(ownership.ErrNotFound))
}

// A target that is being released by somebody is not external.
func TestExternalTargets(t *testing.T) {
	b := newBench(t)
	b.record("a", targets{x}, nil)
	b.record("b", nil, targets{y})
	o, err := admin.ListOwners(t.Context(), b.table, listing{x: "healthy", y: "draining", "10.9.9.9:80": "healthy"}, arn)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(o.External).To(Equal([]admin.Target{{Target: "10.9.9.9:80", Health: "healthy"}}))
}

// What a page says of a target is what a pass would do.
func TestExplain(t *testing.T) {
	verdict := func(action plan.Action, reason plan.Reason) []string { return []string{string(action), string(reason)} }
	for name, c := range map[string]struct {
		records  func(*bench)
		listed   listing
		verdicts [][]string // of owner a: wanted and let go, or releasing
	}{
		"held alone": {
			func(b *bench) { b.record("a", targets{x}, nil) }, listing{x: "healthy"},
			[][]string{verdict(plan.Keep, plan.Confirmed), verdict(plan.Deregister, plan.NobodyHolds)},
		},
		"held by two": {
			func(b *bench) { b.record("a", targets{x}, nil); b.record("b", targets{x}, nil) }, listing{x: "healthy"},
			[][]string{verdict(plan.Keep, plan.Confirmed), verdict(plan.Drop, plan.HeldByOther)},
		},
		"claimed while another releases it": {
			func(b *bench) { b.record("a", targets{x}, nil); b.record("b", nil, targets{x}) }, listing{x: "draining"},
			[][]string{verdict(plan.Wait, plan.BlockedByOther), verdict(plan.Deregister, plan.NobodyHolds)},
		},
		"releasing beside an unreadable record": {
			func(b *bench) {
				b.record("a", nil, targets{x})
				b.table.Break(ownership.Key{Group: arn, Owner: owner("b")}, "no version")
			}, listing{x: "healthy"},
			[][]string{verdict(plan.Wait, plan.Unreadable)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c.records(b)
			e, err := admin.Explain(t.Context(), b.table, c.listed, arn, x)
			b.Expect(err).NotTo(HaveOccurred())
			i := slices.IndexFunc(e.Entries, func(e admin.Entry) bool { return strings.HasPrefix(e.Owner, "a/") })
			var got [][]string
			for _, v := range e.Entries[i].Verdicts {
				got = append(got, verdict(v.Action, v.Reason))
			}
			b.Expect(got).To(Equal(c.verdicts))
		})
	}
}
