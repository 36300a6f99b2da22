package memory_test

import (
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		table := memory.New()
		return storetest.Harness{
			Store:    table,
			Registry: table,
			History:  table,
			LoseReply: func() {
				var lost atomic.Bool
				table.Intercept(func(op memory.Op) memory.Fault {
					if op.Writes() && lost.CompareAndSwap(false, true) {
						return memory.LoseReply()
					}
					return memory.Fault{}
				})
			},
			Damage: func(_ testing.TB, key ownership.Key, damage storetest.Damage) {
				table.Break(key, damage.Name)
			},
			DamageCluster: func(_ testing.TB, id string, damage storetest.Damage) {
				table.BreakCluster(id, damage.Name)
			},
			SetState: func(_ testing.TB, id string, state ownership.ClusterState) {
				table.EditCluster(id, func(c *ownership.Cluster) { c.State = state })
			},
		}
	})
}

var rec = ownership.Record{
	Group:      "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef",
	Owner:      ownership.Owner{Cluster: "a", Namespace: "shop", Name: "web"},
	Held:       map[ownership.Target]time.Time{"10.0.0.5:8080": {}},
	BindingUID: "uid",
	Revision:   ownership.Revision{Version: 1, WriteID: "w1"},
}

func holds(t *testing.T, table *memory.Table) bool {
	t.Helper()
	all, err := table.Records(t.Context(), rec.Group)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return len(all.Records) == 1
}

func onPut(f memory.Fault) func(memory.Op) memory.Fault {
	return func(op memory.Op) memory.Fault {
		if op.Kind == memory.Put {
			return f
		}
		return memory.Fault{}
	}
}

func TestRefusedCallIsNotApplied(t *testing.T) {
	g := NewWithT(t)
	table := memory.New()
	table.Intercept(onPut(memory.Refuse(ownership.ErrThrottled)))
	g.Expect(table.Put(t.Context(), rec, ownership.Revision{})).To(MatchError(ownership.ErrThrottled))
	g.Expect(holds(t, table)).To(BeFalse())
}

func TestDelayedWriteLandsWhenToldTo(t *testing.T) {
	g := NewWithT(t)
	table := memory.New()
	table.Intercept(onPut(memory.Delay()))
	g.Expect(table.Put(t.Context(), rec, ownership.Revision{})).To(MatchError(ownership.ErrUnavailable))
	g.Expect(holds(t, table)).To(BeFalse())
	g.Expect(table.Delayed()).To(Equal([]memory.Op{{Kind: memory.Put, Group: rec.Group, Owner: rec.Owner}}))

	g.Expect(table.Land(0)).To(Succeed())
	g.Expect(holds(t, table)).To(BeTrue())
	g.Expect(table.Delayed()).To(BeEmpty())
	g.Expect(table.Land(0)).NotTo(Succeed())
}

func TestDelayedWriteMeetsItsConditionWhenItLands(t *testing.T) {
	g := NewWithT(t)
	table := memory.New()
	table.Intercept(onPut(memory.Delay()))
	g.Expect(table.Put(t.Context(), rec, ownership.Revision{})).NotTo(Succeed())
	table.Intercept(nil)
	overtaking := rec
	overtaking.WriteID = "w1-of-another"
	g.Expect(table.Put(t.Context(), overtaking, ownership.Revision{})).To(Succeed())
	g.Expect(table.Land(0)).To(MatchError(ownership.ErrConflict))
}

func TestFaultedReadIsAnErrorNotAnEmptyTable(t *testing.T) {
	for _, fault := range []memory.Fault{memory.LoseReply(), memory.Delay(), memory.Refuse(ownership.ErrUnavailable)} {
		table := memory.New()
		table.Intercept(func(memory.Op) memory.Fault { return fault })
		_, err := table.Records(t.Context(), rec.Group)
		NewWithT(t).Expect(err).To(MatchError(ownership.ErrUnavailable))
	}
}

func TestRestoreBringsTheSnapshotBack(t *testing.T) {
	g := NewWithT(t)
	table := memory.New()
	g.Expect(table.Put(t.Context(), rec, ownership.Revision{})).To(Succeed())
	yesterday := table.Snapshot()

	table.Wipe()
	g.Expect(holds(t, table)).To(BeFalse())
	table.Restore(yesterday)
	g.Expect(holds(t, table)).To(BeTrue())

	g.Expect(table.Delete(t.Context(), rec)).To(Succeed())
	table.Restore(yesterday) // a snapshot serves more than once
	g.Expect(holds(t, table)).To(BeTrue())
}

func TestObserverSeesAppliedWritesOnly(t *testing.T) {
	g := NewWithT(t)
	table := memory.New()
	var seen []string
	table.Observe(func(c memory.Change) {
		switch {
		case c.Before == nil:
			seen = append(seen, "created "+c.After.WriteID)
		case c.After == nil:
			seen = append(seen, "deleted "+c.Before.WriteID)
		default:
			seen = append(seen, c.Before.WriteID+" to "+c.After.WriteID)
		}
	})
	g.Expect(table.Put(t.Context(), rec, ownership.Revision{})).To(Succeed())
	g.Expect(table.Put(t.Context(), rec, ownership.Revision{})).NotTo(Succeed())
	next := rec
	next.Revision = ownership.Revision{Version: 2, WriteID: "w2"}
	g.Expect(table.Put(t.Context(), next, rec.Revision)).To(Succeed())
	g.Expect(table.Delete(t.Context(), next)).To(Succeed())
	g.Expect(seen).To(Equal([]string{"created w1", "w1 to w2", "deleted w2"}))
}
