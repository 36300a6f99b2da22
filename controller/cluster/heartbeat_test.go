package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

func TestFirstClaimCreatesTheEntry(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		c := config("uid-a", table)
		heartbeat := cluster.NewHeartbeat(c)
		g.Expect(c.Gate.Check()).To(MatchError(`cluster ID "blue" is not claimed in the ownership table yet`))

		start(t, heartbeat)
		g.Expect(c.Gate.Check()).To(Succeed())
		g.Expect(c.Gate.Drained()).To(BeFalse())
		got := entry(t, table)
		g.Expect(got.WriteID).NotTo(BeEmpty())
		got.WriteID = ""
		g.Expect(cmp.Diff(got, ownership.Cluster{
			ID: "blue", Fingerprint: "uid-a", State: ownership.ClusterActive,
			HeartbeatSeq: 1, HeartbeatAt: time.Now(),
			Revision: ownership.Revision{Version: 1}, ControllerVersion: "v1.2.3",
		})).To(BeEmpty())
	})
}

func TestHeartbeatIsOneWritePerInterval(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table, calls := memory.New(), &journal{}
		table.Intercept(calls.intercept(noFault))
		beating(t, config("uid-a", table))
		pass(time.Minute)

		g.Expect(calls.count(memory.Cluster)).To(Equal(1), "reads")
		g.Expect(calls.count(memory.PutCluster)).To(Equal(7), "writes: at 0, 10, ... 60 s")
		g.Expect(entry(t, table).HeartbeatSeq).To(BeEquivalentTo(7))
		g.Expect(entry(t, table).HeartbeatAt).To(BeTemporally("==", time.Now()))
	})
}

// A table that gets replicas decides nothing any more. Other troubles of its
// description are none of the records.
func TestATableThatIsReplicatedLaterIsNoticed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		c := config("uid-a", memory.New())
		var wrong error
		looks := 0
		c.Verify = func(context.Context) error { looks++; return wrong }
		gate := beating(t, c)
		pass(time.Hour)
		g.Expect(looks).To(Equal(13), "at the start, and once in 5 minutes")

		wrong = ownership.ErrForbidden
		pass(time.Hour)
		g.Expect(gate.Check()).To(Succeed())

		wrong = fmt.Errorf("%w as needed: %w", ownership.ErrTableMissing, ownership.ErrReplicated)
		pass(6 * time.Minute)
		g.Expect(gate.Check()).To(MatchError(ownership.ErrReplicated))

		wrong = nil
		pass(time.Minute)
		g.Expect(gate.Check()).To(Succeed())
	})
}

func TestClaimGoesOnFromOurOwnEntry(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, ownership.Cluster{
			ID: "blue", Fingerprint: "uid-a", State: ownership.ClusterDrained, HeartbeatSeq: 41, ControllerVersion: "v1.0.0",
		})
		gate := beating(t, config("uid-a", table))

		g.Expect(gate.Check()).To(Succeed())
		g.Expect(gate.Drained()).To(BeTrue())
		got := entry(t, table)
		g.Expect(got.HeartbeatSeq).To(BeEquivalentTo(42))
		g.Expect(got.State).To(Equal(ownership.ClusterDrained))
		g.Expect(got.ControllerVersion).To(Equal("v1.2.3"))
	})
}

// Field case 28.
func TestSecondClusterWithAnIDTouchesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table, calls := memory.New(), &journal{}
		theirs := put(t, table, ownership.Cluster{
			ID: "blue", Fingerprint: "uid-b", State: ownership.ClusterRetired, HeartbeatSeq: 7,
		})
		table.Intercept(calls.intercept(noFault))
		gate := beating(t, config("uid-a", table))

		duplicate, ok := errors.AsType[*cluster.DuplicateIDError](gate.Check())
		g.Expect(ok).To(BeTrue(), "gate: %v", gate.Check())
		g.Expect(*duplicate).To(Equal(cluster.DuplicateIDError{ID: "blue", Ours: "uid-a", Theirs: "uid-b"}))
		g.Expect(duplicate).To(MatchError(And(
			ContainSubstring("uid-a"), ContainSubstring("uid-b"), ContainSubstring("--cluster-id"), ContainSubstring("remove its entry"),
		)))

		pass(time.Hour)
		g.Expect(calls.count(memory.PutCluster)).To(BeZero())
		g.Expect(entry(t, table)).To(Equal(theirs))
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(duplicate))

		table.Wipe() // the operator removes the entry
		pass(30 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
		g.Expect(entry(t, table).Fingerprint).To(Equal("uid-a"))
	})
}

// Field case 28, with an entry that was removed while its cluster lived.
func TestDuplicateAppearsAtRunTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		first := beating(t, config("uid-a", table))
		pass(5 * time.Second)
		g.Expect(first.Check()).To(Succeed())

		table.Wipe()
		second := beating(t, config("uid-b", table))
		g.Expect(second.Check()).To(Succeed())
		pass(10 * time.Second)
		g.Expect(first.Check()).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))

		pass(time.Hour)
		g.Expect(second.Check()).To(Succeed())
		g.Expect(first.Check()).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))
		got := entry(t, table)
		g.Expect(got.Fingerprint).To(Equal("uid-b"))
		g.Expect(got.HeartbeatSeq).To(Equal(got.Version), "a write that was no heartbeat of the second")
	})
}

// The message is a condition of every binding, and a condition that changes
// is a write.
func TestAConflictReadsTheSameAtEachRetry(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		theirs := beating(t, config("uid-b", table))
		ours := beating(t, config("uid-a", table))
		message := ours.Check().Error()
		pass(time.Hour) // of their heartbeats and our retries
		g.Expect(theirs.Check()).To(Succeed())
		g.Expect(ours.Check()).To(MatchError(message))
	})
}

func TestTwoClustersThatStartTogether(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		// Both read that there is no entry before either writes.
		start := make(chan struct{})
		table.Intercept(func(op memory.Op) memory.Fault {
			if op.Kind == memory.PutCluster {
				<-start
			}
			return memory.Fault{}
		})
		gates := []*cluster.Gate{beating(t, config("uid-a", table)), beating(t, config("uid-b", table))}
		close(start)
		pass(time.Second)

		open, duplicates := 0, 0
		for _, gate := range gates {
			switch err := gate.Check(); {
			case err == nil:
				open++
			case errors.As(err, new(*cluster.DuplicateIDError)):
				duplicates++
			}
		}
		g.Expect([]int{open, duplicates}).To(Equal([]int{1, 1}))
	})
}

func TestStateFollowsTheOperator(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		gate := beating(t, config("uid-a", table))

		operate(t, table, ownership.ClusterDrained)
		pass(10 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
		g.Expect(gate.Drained()).To(BeTrue())

		operate(t, table, ownership.ClusterRetired)
		retired := entry(t, table)
		pass(10 * time.Second)
		g.Expect(gate.Check()).To(MatchError(&cluster.RetiredError{ID: "blue"}))
		pass(time.Hour)
		g.Expect(entry(t, table)).To(Equal(retired), "a retired cluster writes nothing")

		operate(t, table, "Paused")
		pass(30 * time.Second)
		g.Expect(gate.Check()).To(MatchError(&cluster.UnknownStateError{ID: "blue", State: "Paused"}))

		operate(t, table, ownership.ClusterActive)
		pass(30 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
		g.Expect(gate.Drained()).To(BeFalse())
	})
}

func TestRetiredClusterStaysOutAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		table := memory.New()
		retired := put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-a", State: ownership.ClusterRetired})
		gate := beating(t, config("uid-a", table))
		g := NewWithT(t)
		g.Expect(gate.Check()).To(MatchError(&cluster.RetiredError{ID: "blue"}))
		g.Expect(entry(t, table)).To(Equal(retired))
	})
}

func TestStartEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		c := config("uid-a", table)
		events := c.Gate.Watch()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		heartbeat := cluster.NewHeartbeat(c)
		g.Expect(heartbeat.Start(ctx)).To(Succeed())
		g.Expect(c.Gate.Check()).NotTo(MatchError(context.Canceled), "a shutdown is not an outage")
		g.Expect(drain(events)).To(BeZero())
		synctest.Wait()
	})
}
