package cluster_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

func green(seq int64) ownership.Cluster {
	return ownership.Cluster{ID: "green", Fingerprint: "uid-g", State: ownership.ClusterActive, HeartbeatSeq: seq}
}

// Field case 29: others show the cluster as silent since when.
func TestSilenceIsMeasuredOnOurOwnClock(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table, calls := memory.New(), &journal{}
		put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-a", State: ownership.ClusterActive})
		silent := green(7)
		silent.HeartbeatAt = time.Now().Add(-time.Hour) // says nothing
		put(t, table, silent)
		table.Intercept(calls.intercept(noFault))

		peers := cluster.NewPeers(table, "blue")
		g.Expect(peers.Seen()).To(BeEmpty())
		start(t, peers)
		g.Expect(peers.Seen()).To(Equal(map[string]cluster.Peer{"green": {State: ownership.ClusterActive}}))
		pass(time.Minute)
		g.Expect(peers.Seen()).To(Equal(map[string]cluster.Peer{"green": {State: ownership.ClusterActive, Silent: time.Minute}}))
		g.Expect(calls.calls).To(HaveLen(3), "one query every 30 s")
		g.Expect(calls.count(memory.Clusters)).To(Equal(3))
	})
}

func TestWhatEndsASilence(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*ownership.Cluster)
		silent time.Duration
	}{
		"a heartbeat":               {func(c *ownership.Cluster) { c.HeartbeatSeq = 8 }, 0},
		"a table from yesterday":    {func(c *ownership.Cluster) { c.HeartbeatSeq = 3 }, 0},
		"another cluster's claim":   {func(c *ownership.Cluster) { c.Fingerprint = "uid-h" }, 0},
		"not an operator's command": {func(c *ownership.Cluster) { c.State = ownership.ClusterRetired }, time.Minute},
		"not a wall clock":          {func(c *ownership.Cluster) { c.HeartbeatAt = time.Now() }, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table := memory.New()
				put(t, table, green(7))
				peers := cluster.NewPeers(table, "blue")
				_, err := peers.Observe(t.Context())
				g.Expect(err).NotTo(HaveOccurred())
				pass(time.Minute)
				changed := green(7)
				tc.change(&changed)
				put(t, table, changed)
				got, err := peers.Observe(t.Context())
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(got).To(Equal(map[string]cluster.Peer{"green": {State: changed.State, Silent: tc.silent}}))
			})
		})
	}
}

// What was uninstalled after a drain stays in the registry, and nobody is to
// look after it.
func TestADrainedClusterWithoutTargetsHasLeft(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		drained := green(7)
		drained.State = ownership.ClusterDrained
		put(t, table, drained)
		record := ownership.Record{
			Group:      "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef",
			Owner:      ownership.Owner{Cluster: "green", Namespace: "shop", Name: "web"},
			BindingUID: "uid",
			Held:       map[ownership.Target]time.Time{"10.0.0.5:8080": {}},
			Revision:   ownership.Revision{Version: 1, WriteID: newID()},
		}
		g.Expect(table.Put(t.Context(), record, ownership.Revision{})).To(Succeed())
		peers := cluster.NewPeers(table, "blue")
		start(t, peers)
		pass(time.Minute)
		g.Expect(peers.Seen()).To(HaveKeyWithValue("green", cluster.Peer{State: ownership.ClusterDrained, Silent: time.Minute}))

		g.Expect(table.Delete(t.Context(), record)).To(Succeed())
		pass(time.Minute)
		left := cluster.Peer{State: ownership.ClusterDrained, Silent: 2 * time.Minute, Left: true}
		g.Expect(peers.Seen()).To(HaveKeyWithValue("green", left))
		table.Intercept(onlyFor(memory.Clusters))
		pass(time.Minute)
		left.Silent += time.Minute
		g.Expect(peers.Seen()).To(HaveKeyWithValue("green", left), "nobody can tell otherwise")

		table.Intercept(nil)
		drained.HeartbeatSeq++
		put(t, table, drained)
		pass(30 * time.Second)
		g.Expect(peers.Seen()).To(HaveKeyWithValue("green", cluster.Peer{State: ownership.ClusterDrained}), "it is back")
		pass(time.Minute)
		active := green(8)
		put(t, table, active)
		pass(30 * time.Second)
		g.Expect(peers.Seen()["green"].Left).To(BeFalse(), "it is to serve")
	})
}

func TestBlindnessIsNotSilence(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, green(7))
		peers := cluster.NewPeers(table, "blue")
		start(t, peers)
		pass(30 * time.Second)
		table.Intercept(refuse(ownership.ErrThrottled))
		pass(time.Hour)
		_, err := peers.Observe(t.Context())
		g.Expect(err).To(MatchError(ownership.ErrThrottled))
		g.Expect(peers.Seen()).To(HaveKeyWithValue("green", cluster.Peer{State: ownership.ClusterActive, Silent: 30 * time.Second}))
	})
}

func TestOneUnreadableEntryHidesNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		red := green(3)
		red.ID = "red"
		put(t, table, green(7))
		put(t, table, red)
		peers := cluster.NewPeers(table, "blue")
		start(t, peers)
		pass(30 * time.Second)

		table.BreakCluster("green", "schema version 2")
		table.BreakCluster("grey", "schema version 2")
		pass(time.Minute)
		g.Expect(peers.Seen()).To(Equal(map[string]cluster.Peer{
			"green": {State: ownership.ClusterActive, Silent: 30 * time.Second}, // as last seen
			"red":   {State: ownership.ClusterActive, Silent: 90 * time.Second},
		}))
	})
}

func TestRemovedClusterIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, green(7))
		peers := cluster.NewPeers(table, "blue")
		start(t, peers)
		table.Wipe()
		pass(30 * time.Second)
		g.Expect(peers.Seen()).To(BeEmpty())

		put(t, table, green(7))
		pass(30 * time.Second)
		g.Expect(peers.Seen()).To(HaveKeyWithValue("green", cluster.Peer{State: ownership.ClusterActive}))
	})
}

// slow answers after 5 s.
type slow struct{ *memory.Table }

func (s slow) Clusters(ctx context.Context) (ownership.Clusters, error) {
	time.Sleep(5 * time.Second)
	return s.Table.Clusters(ctx)
}

// The reader counts from after the reading that first saw the heartbeat to
// before the last one.
func TestSlowQueriesDoNotLengthenASilence(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, green(7))
		peers := cluster.NewPeers(slow{table}, "blue")
		_, err := peers.Observe(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		pass(20 * time.Second)
		got, err := peers.Observe(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got["green"].Silent).To(Equal(20 * time.Second))
	})
}
