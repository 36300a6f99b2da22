package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// checking starts the preflight of a replica that stands by.
func checking(t *testing.T, c cluster.HeartbeatConfig) *cluster.Preflight {
	t.Helper()
	p := cluster.NewPreflight(c)
	NewWithT(t).Expect(p.Check(nil)).NotTo(Succeed(), "nothing is known yet")
	start(t, ending{p.Start})
	return p
}

// ending is a runnable that may return before its context ends.
type ending struct {
	run func(context.Context) error
}

func (e ending) Start(ctx context.Context) error {
	err := e.run(ctx)
	<-ctx.Done()
	return err
}

func TestAStandbyIsReadyAndWritesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table, calls := memory.New(), &journal{}
		table.Intercept(calls.intercept(noFault))
		p := checking(t, config("uid-a", table))
		g.Expect(p.Check(nil)).To(Succeed())
		g.Expect(p.NeedLeaderElection()).To(BeFalse())
		pass(time.Hour)
		g.Expect(calls.count(memory.PutCluster)).To(BeZero())
		g.Expect(calls.calls).To(HaveLen(2), "it reads its entry and the others once")
	})
}

// A rollout waits for the first pod of the new configuration.
func TestABrokenConfigurationIsNotReady(t *testing.T) {
	noTable := errors.New("no index by-cluster")
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, table *memory.Table, c *cluster.HeartbeatConfig)
		mend  func(table *memory.Table, c *cluster.HeartbeatConfig)
		want  any
	}{
		"the table is not right": {
			func(_ *testing.T, table *memory.Table, c *cluster.HeartbeatConfig) {
				broken := true
				c.Verify = func(context.Context) error {
					if broken {
						broken = false
						return noTable
					}
					return nil
				}
			}, func(*memory.Table, *cluster.HeartbeatConfig) {}, noTable},
		"the table is missing": {
			func(_ *testing.T, table *memory.Table, _ *cluster.HeartbeatConfig) {
				table.Intercept(refuse(ownership.ErrTableMissing))
			}, func(table *memory.Table, _ *cluster.HeartbeatConfig) { table.Intercept(nil) }, ownership.ErrTableMissing},
		"the role lacks a permission": {
			func(_ *testing.T, table *memory.Table, _ *cluster.HeartbeatConfig) {
				table.Intercept(refuse(ownership.ErrForbidden))
			}, func(table *memory.Table, _ *cluster.HeartbeatConfig) { table.Intercept(nil) }, ownership.ErrForbidden},
		"the ID is another cluster's": {
			func(t *testing.T, table *memory.Table, _ *cluster.HeartbeatConfig) {
				put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-b", State: ownership.ClusterActive})
			}, func(table *memory.Table, _ *cluster.HeartbeatConfig) { table.RemoveCluster("blue") },
			&cluster.DuplicateIDError{ID: "blue", Ours: "uid-a", Theirs: "uid-b"}},
		"the ID was changed": {
			func(t *testing.T, table *memory.Table, _ *cluster.HeartbeatConfig) {
				formerly(t, table, "uid-a", ownership.ClusterActive)
			}, func(table *memory.Table, _ *cluster.HeartbeatConfig) { table.RemoveCluster("azure") },
			&cluster.RenamedError{ID: "blue", Earlier: "azure"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table := memory.New()
				c := config("uid-a", table)
				tc.spoil(t, table, &c)
				p := checking(t, c)
				g.Expect(p.Check(nil)).To(MatchError(tc.want))
				tc.mend(table, &c)
				pass(30 * time.Second)
				g.Expect(p.Check(nil)).To(Succeed())
			})
		})
	}
}

func TestARetiredClusterIsReady(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		table := memory.New()
		put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-a", State: ownership.ClusterRetired})
		c := config("uid-a", table)
		p := checking(t, c)
		beating(t, c)
		NewWithT(t).Expect(p.Check(nil)).To(Succeed())
	})
}

func TestAnOutageLeavesReplicasReady(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		c := config("uid-a", table)
		p := checking(t, c)
		gate := beating(t, c)
		table.Intercept(refuse(ownership.ErrUnavailable))
		pass(time.Hour)
		g.Expect(gate.Check()).NotTo(Succeed())
		g.Expect(p.Check(nil)).To(Succeed())
	})
}

func TestALeaderThatCannotClaimIsNotReady(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		table.Intercept(func(op memory.Op) memory.Fault {
			if op.Writes() {
				return memory.Refuse(ownership.ErrForbidden)
			}
			return memory.Fault{}
		})
		c := config("uid-a", table)
		p := checking(t, c)
		g.Expect(p.Check(nil)).To(Succeed(), "as a standby it has read all that it can")
		beating(t, c)
		g.Expect(p.Check(nil)).To(MatchError(ownership.ErrForbidden))
	})
}

func TestADuplicateThatAppearsIsNotReady(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		c := config("uid-a", table)
		p := checking(t, c)
		beating(t, c)
		g.Expect(p.Check(nil)).To(Succeed())
		table.EditCluster("blue", func(e *ownership.Cluster) {
			e.Fingerprint, e.Revision = "uid-b", ownership.Revision{Version: 1, WriteID: newID()}
		})
		pass(10 * time.Second)
		g.Expect(p.Check(nil)).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))
	})
}
