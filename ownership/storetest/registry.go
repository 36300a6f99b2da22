package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func cluster(id string) ownership.Cluster {
	return ownership.Cluster{
		ID:                id,
		Fingerprint:       "f3b1c1d4-0e6f-4a5b-8f5e-2f6a3c9d7e11",
		State:             ownership.ClusterActive,
		HeartbeatSeq:      1,
		HeartbeatAt:       noon,
		Revision:          ownership.Revision{Version: 1, WriteID: "claim-1"},
		ControllerVersion: "v1.2.3",
	}
}

// claimCluster: field case 28, two clusters installed with the same ID.
func claimCluster(t *testing.T, h Harness) {
	g := NewWithT(t)
	_, err := h.Registry.Cluster(t.Context(), "a")
	g.Expect(err).To(MatchError(ownership.ErrNotFound))

	mine := cluster("a")
	g.Expect(h.Registry.PutCluster(t.Context(), mine, ownership.Revision{})).To(Succeed())
	theirs := cluster("a")
	theirs.Fingerprint, theirs.WriteID = "another-kube-system", "claim-2"
	expectConflict(t, h.Registry.PutCluster(t.Context(), theirs, ownership.Revision{}))

	next := mine
	next.HeartbeatSeq, next.Revision = 2, ownership.Revision{Version: 2, WriteID: "beat-2"}
	g.Expect(h.Registry.PutCluster(t.Context(), next, mine.Revision)).To(Succeed())
	stale := next
	stale.WriteID = "beat-2-of-another"
	expectConflict(t, h.Registry.PutCluster(t.Context(), stale, mine.Revision))
	g.Expect(h.Registry.Cluster(t.Context(), "a")).To(Equal(next))
}

func roundTripCluster(t *testing.T, h Harness) {
	g := NewWithT(t)
	entry := cluster("Prod_eu.west-1")
	entry.State, entry.HeartbeatSeq = ownership.ClusterRetired, 1<<40
	entry.HeartbeatAt = noon.Add(time.Millisecond)
	g.Expect(h.Registry.PutCluster(t.Context(), entry, ownership.Revision{})).To(Succeed())
	g.Expect(h.Registry.Cluster(t.Context(), entry.ID)).To(Equal(entry))
	_, err := h.Registry.Cluster(t.Context(), "Prod_eu.west-2")
	g.Expect(err).To(MatchError(ownership.ErrNotFound))
}

func listClusters(t *testing.T, h Harness) {
	g := NewWithT(t)
	g.Expect(h.Registry.Clusters(t.Context())).To(BeZero())
	create(t, h.Store, record(blue, owner("a")))
	var want []ownership.Cluster
	for i := range 25 {
		want = append(want, cluster(fmt.Sprintf("cluster-%02d", i)))
		g.Expect(h.Registry.PutCluster(t.Context(), want[i], ownership.Revision{})).To(Succeed())
	}
	got, err := h.Registry.Clusters(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	if diff := cmp.Diff(ownership.Clusters{Clusters: want}, got, unordered); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
}

// unknownState: an operator with a newer version says something that this one
// does not understand. A reader has to learn what it is.
func unknownState(t *testing.T, h Harness) {
	g := NewWithT(t)
	entry := cluster("a")
	g.Expect(h.Registry.PutCluster(t.Context(), entry, ownership.Revision{})).To(Succeed())
	h.SetState(t, "a", "Paused")
	paused := entry
	paused.State = "Paused"
	g.Expect(h.Registry.Cluster(t.Context(), "a")).To(Equal(paused))
	g.Expect(h.Registry.Clusters(t.Context())).To(Equal(ownership.Clusters{Clusters: []ownership.Cluster{paused}}))

	next := paused
	next.Revision = ownership.Revision{Version: 2, WriteID: "beat-2"}
	err := h.Registry.PutCluster(t.Context(), next, entry.Revision)
	g.Expect(err).To(MatchError(ContainSubstring(`"Paused"`)))
	g.Expect(h.Registry.Cluster(t.Context(), "a")).To(Equal(paused))
}

func unwritableCluster(t *testing.T, h Harness) {
	for name, spoil := range map[string]func(*ownership.Cluster){
		"no ID":                   func(c *ownership.Cluster) { c.ID = "" },
		"slash in the ID":         func(c *ownership.Cluster) { c.ID = "a/b" },
		"no fingerprint":          func(c *ownership.Cluster) { c.Fingerprint = "" },
		"no state":                func(c *ownership.Cluster) { c.State = "" },
		"heartbeat below zero":    func(c *ownership.Cluster) { c.HeartbeatSeq = -1 },
		"no write ID":             func(c *ownership.Cluster) { c.WriteID = "" },
		"version is not the next": func(c *ownership.Cluster) { c.Version = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			entry := cluster("a")
			spoil(&entry)
			g.Expect(h.Registry.PutCluster(t.Context(), entry, ownership.Revision{})).NotTo(Succeed())
			g.Expect(h.Registry.Clusters(t.Context())).To(BeZero())
		})
	}
}

// unreadableCluster: one broken entry must not hide the heartbeats of the
// others, and is no free ID.
func unreadableCluster(t *testing.T, h Harness) {
	for i, damage := range clusterDamages {
		t.Run(damage.Name, func(t *testing.T) {
			g := NewWithT(t)
			broken, fine := cluster(fmt.Sprintf("broken-%d", i)), cluster(fmt.Sprintf("fine-%d", i))
			for _, c := range []ownership.Cluster{broken, fine} {
				g.Expect(h.Registry.PutCluster(t.Context(), c, ownership.Revision{})).To(Succeed())
			}
			h.DamageCluster(t, broken.ID, damage)

			_, err := h.Registry.Cluster(t.Context(), broken.ID)
			g.Expect(err).To(MatchError(ownership.ErrUnreadable))
			got, err := h.Registry.Clusters(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Clusters).To(And(ContainElement(fine), Not(ContainElement(HaveField("ID", broken.ID)))))
			g.Expect(got.Unreadable).To(ContainElement(And(HaveField("Owner", broken.ID), HaveField("Reason", Not(BeEmpty())))))
			expectConflict(t, h.Registry.PutCluster(t.Context(), broken, ownership.Revision{}))
		})
	}
}

func lostReplyToClaim(t *testing.T, h Harness) {
	g := NewWithT(t)
	mine := cluster("a")
	h.LoseReply()
	expectConflict(t, retried(func() error {
		return h.Registry.PutCluster(t.Context(), mine, ownership.Revision{})
	}))
	g.Expect(h.Registry.Cluster(t.Context(), "a")).To(Equal(mine))

	next := mine
	next.HeartbeatSeq, next.Revision = 2, ownership.Revision{Version: 2, WriteID: "beat-2"}
	h.LoseReply()
	expectConflict(t, retried(func() error {
		return h.Registry.PutCluster(t.Context(), next, mine.Revision)
	}))
	g.Expect(h.Registry.Cluster(t.Context(), "a")).To(Equal(next))
}
