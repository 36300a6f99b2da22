package cluster_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/clocktest"
	"target-ownership-controller/ownership/memory"
)

// A claim counts for three missed heartbeats of 10 s and the 10 s that a
// renewal may take.
func TestAClaimLapsesThatIsNotRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		c := config("uid-a", table)
		events := c.Gate.Watch()
		gate := beating(t, c)
		g.Expect(drain(events)).To(Equal(1))
		table.Intercept(refuse(ownership.ErrThrottled))

		pass(40 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
		pass(time.Second)
		lapsed := &cluster.NotClaimedError{}
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(lapsed))
		g.Expect(gate.Check()).To(MatchError(ownership.ErrThrottled))
		g.Expect(gate.Check()).To(MatchError(ContainSubstring("more than 40s")))
		pass(time.Hour)
		g.Expect(gate.Check()).To(MatchError(ownership.ErrThrottled))
		g.Expect(drain(events)).To(BeZero(), "a binding with nothing to do has no reason to hear of it")

		table.Intercept(nil)
		pass(2 * time.Second)
		g.Expect(gate.Check()).To(Succeed(), "soon after the outage")
		g.Expect(drain(events)).To(Equal(1), "all bindings make up for what they missed")
	})
}

// frozen stops its process in the middle of a write of the registry, before it
// is sent, until the channel is closed.
type frozen struct {
	*memory.Table
	until chan struct{}
}

func (f *frozen) PutCluster(ctx context.Context, next ownership.Cluster, seen ownership.Revision) error {
	if f.until != nil {
		<-f.until
	}
	return f.Table.PutCluster(ctx, next, seen)
}

// A process that wakes up is asked for its claim before its first heartbeat:
// in the meantime its entry was removed, and another cluster has the ID.
func TestAProcessThatWasFrozenFirstRenewsItsClaim(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := &frozen{Table: memory.New()}
		ours := beating(t, config("uid-a", table))
		g.Expect(ours.Check()).To(Succeed())
		table.until = make(chan struct{})
		pass(time.Hour)
		table.RemoveCluster("blue")
		theirs := beating(t, config("uid-b", table.Table))
		g.Expect(theirs.Check()).To(Succeed())

		g.Expect(ours.Check()).To(MatchError(`cluster ID "blue" has not been confirmed in the ownership table for more than 40s`))
		close(table.until)
		synctest.Wait()
		g.Expect(ours.Check()).NotTo(Succeed(), "the write came too late")
		pass(10 * time.Second)
		g.Expect(ours.Check()).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))
		g.Expect(theirs.Check()).To(Succeed())
	})
}

func TestAClaimLapsesWhileTheMachineSleeps(t *testing.T) {
	g := NewWithT(t)
	gate, now := cluster.NewGate(), time.Now()
	gate.SetNow(func() time.Time { return now })
	c := config("uid-a", memory.New())
	c.Gate = gate
	ctx, stop := context.WithCancel(t.Context())
	events := gate.Watch()
	heartbeat := cluster.NewHeartbeat(c)
	done := make(chan error)
	go func() { done <- heartbeat.Start(ctx) }()
	for gate.Check() != nil {
		<-events
	}
	stop() // no second heartbeat
	g.Expect(<-done).To(Succeed())

	before := now
	now = clocktest.Asleep(before, time.Minute)
	g.Expect(now.Sub(before)).To(BeZero(), "no monotonic time has passed")
	g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.NotClaimedError{}))
	now = before.Add(time.Minute) // and the other way: a clock that was set back
	g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.NotClaimedError{}))
}

// A retired cluster may still release what is left of a deleted binding, and
// so its answer, too, has to be fresh.
func TestARetirementLapses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-a", State: ownership.ClusterRetired})
		gate := beating(t, config("uid-a", table))
		pass(time.Hour)
		g.Expect(gate.Check()).To(MatchError(&cluster.RetiredError{ID: "blue"}))
		table.Intercept(refuse(ownership.ErrUnavailable))
		pass(time.Minute)
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.NotClaimedError{}))
	})
}

func TestCheckSinceWantsARenewalThatBeganAfterTheMark(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := &frozen{Table: memory.New()}
		gate := beating(t, config("uid-a", table))
		mark := gate.Mark()
		g.Expect(gate.CheckSince(mark)).To(MatchError(cluster.ErrNotRenewed))
		synctest.Wait()
		g.Expect(gate.CheckSince(mark)).To(Succeed(), "it was asked for")
		synctest.Wait()
		g.Expect(entry(t, table.Table).HeartbeatSeq).To(BeEquivalentTo(2), "once")

		table.until = make(chan struct{})
		pass(10 * time.Second)
		mark = gate.Mark() // a renewal is under way
		close(table.until)
		synctest.Wait()
		g.Expect(gate.CheckSince(mark)).To(MatchError(cluster.ErrNotRenewed))
		synctest.Wait()
		g.Expect(gate.CheckSince(mark)).To(Succeed())

		operate(t, table.Table, ownership.ClusterRetired)
		pass(10 * time.Second)
		g.Expect(gate.CheckSince(mark)).To(MatchError(&cluster.RetiredError{ID: "blue"}))
		mark = gate.Mark()
		g.Expect(gate.CheckSince(mark)).To(MatchError(cluster.ErrNotRenewed), "a retired cluster proves its ID too")
		synctest.Wait()
		g.Expect(gate.CheckSince(mark)).To(MatchError(&cluster.RetiredError{ID: "blue"}))
	})
}

func TestAnEntryThatCannotBeReadClosesTheGate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		gate := beating(t, config("uid-a", table))
		table.BreakCluster("blue", "schema version 2 is newer than 1")
		pass(10 * time.Second)
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.UnreadableEntryError{}))
		g.Expect(gate.Check()).To(MatchError(ownership.ErrUnreadable))
		g.Expect(gate.Check()).To(MatchError(And(
			ContainSubstring("schema version 2"), ContainSubstring("targetGroup=cluster, owner=blue"))))
	})
}
