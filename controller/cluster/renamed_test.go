package cluster_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// formerly gives the table an entry and a record of the cluster with the
// kube-system UID under the ID azure.
func formerly(t *testing.T, table *memory.Table, uid string, state ownership.ClusterState) ownership.Record {
	t.Helper()
	put(t, table, ownership.Cluster{ID: "azure", Fingerprint: uid, State: state})
	record := ownership.Record{
		Group:      "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef",
		Owner:      ownership.Owner{Cluster: "azure", Namespace: "shop", Name: "web"},
		BindingUID: "uid",
		Held:       map[ownership.Target]time.Time{"10.0.0.5:8080": {}},
		Revision:   ownership.Revision{Version: 1, WriteID: newID()},
	}
	NewWithT(t).Expect(table.Put(t.Context(), record, ownership.Revision{})).To(Succeed())
	return record
}

// The targets under the old ID would stay in their groups for ever.
func TestAChangedIDLeavesNothingBehind(t *testing.T) {
	for name, settle := range map[string]func(t *testing.T, table *memory.Table, left ownership.Record){
		"the old ID is retired": func(t *testing.T, table *memory.Table, _ ownership.Record) {
			table.EditCluster("azure", func(c *ownership.Cluster) { c.State = ownership.ClusterRetired })
		},
		"its targets are released": func(t *testing.T, table *memory.Table, left ownership.Record) {
			NewWithT(t).Expect(table.Delete(t.Context(), left)).To(Succeed())
		},
		"its entry is removed": func(_ *testing.T, table *memory.Table, _ ownership.Record) { table.RemoveCluster("azure") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table, calls := memory.New(), &journal{}
				left := formerly(t, table, "uid-a", ownership.ClusterActive)
				table.Intercept(calls.intercept(noFault))
				gate := beating(t, config("uid-a", table))
				pass(time.Hour)
				g.Expect(gate.Check()).To(MatchError(&cluster.RenamedError{ID: "blue", Earlier: "azure"}))
				g.Expect(gate.Check()).To(MatchError(And(
					ContainSubstring(`--cluster-id back to "azure"`), ContainSubstring("targetctl cluster retire azure"), ContainSubstring("targetctl release --cluster azure --force"))))
				g.Expect(calls.count(memory.PutCluster)).To(BeZero())

				settle(t, table, left)
				pass(10 * time.Second)
				g.Expect(gate.Check()).To(Succeed())
			})
		})
	}
}

func TestOtherEntriesAreNoFormerID(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, table *memory.Table){
		"of another cluster": func(t *testing.T, table *memory.Table) { formerly(t, table, "uid-b", ownership.ClusterActive) },
		"retired":            func(t *testing.T, table *memory.Table) { formerly(t, table, "uid-a", ownership.ClusterRetired) },
		"unreadable":         func(t *testing.T, table *memory.Table) { table.BreakCluster("azure", "no fingerprint") },
		"without records": func(t *testing.T, table *memory.Table) {
			put(t, table, ownership.Cluster{ID: "azure", Fingerprint: "uid-a", State: ownership.ClusterActive})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				table := memory.New()
				prepare(t, table)
				NewWithT(t).Expect(beating(t, config("uid-a", table)).Check()).To(Succeed())
			})
		})
	}
}

func TestTheFormerIDIsLookedForOnceAtTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table, calls := memory.New(), &journal{}
		table.Intercept(calls.intercept(noFault))
		beating(t, config("uid-a", table))
		pass(time.Hour)
		g.Expect([]int{calls.count(memory.Clusters), calls.count(memory.Groups)}).To(Equal([]int{1, 0}))
	})
}

// What cannot be read now may be there.
func TestAFailedLookForAFormerIDClaimsNothing(t *testing.T) {
	for _, kind := range []memory.Kind{memory.Clusters, memory.Groups} {
		t.Run(string(kind), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table := memory.New()
				formerly(t, table, "uid-a", ownership.ClusterActive)
				table.Intercept(func(op memory.Op) memory.Fault {
					if op.Kind == kind {
						return memory.Refuse(ownership.ErrForbidden)
					}
					return memory.Fault{}
				})
				gate := beating(t, config("uid-a", table))
				g.Expect(gate.Check()).To(MatchError(ownership.ErrForbidden))
				_, err := table.Cluster(t.Context(), "blue")
				g.Expect(err).To(MatchError(ownership.ErrNotFound))
			})
		})
	}
}
