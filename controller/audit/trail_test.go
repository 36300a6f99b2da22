package audit_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/audit"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/memory"
)

const group ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

// capacity is that of a trail, which a table that is gone for long finds out.
const capacity = 500

func entry(i int) history.Entry {
	return history.Entry{
		Group: group, Time: time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC), ID: fmt.Sprint(i),
		Cluster: "east", Binding: "shop/web", By: "controller test",
		Events: []history.Event{{What: history.Claimed, Targets: []ownership.Target{"10.0.0.1:80"}}},
	}
}

// written are the IDs of the entries in the table, the oldest first.
func written(t *testing.T, table *memory.Table) []string {
	t.Helper()
	table.Intercept(nil)
	ids := []string{}
	for e, err := range table.History(t.Context(), history.Query{Group: group}) {
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		ids = append([]string{e.ID}, ids...)
	}
	return ids
}

// running is a trail at work, in a bubble of its own time.
func running(t *testing.T, table history.Store) (trail *audit.Trail, stop func()) {
	trail = audit.NewTrail(table, 168*time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- trail.Start(ctx) }()
	return trail, func() {
		cancel()
		NewWithT(t).Expect(<-ended).To(Succeed())
	}
}

func TestEntriesAreWrittenInOrderAndExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), memory.New()
		trail, stop := running(t, table)
		defer stop()
		trail.Add(entry(1))
		trail.Add(entry(2))
		synctest.Wait()
		g.Expect(written(t, table)).To(Equal([]string{"1", "2"}))
		for e, err := range table.History(t.Context(), history.Query{Group: group, Limit: 1}) {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(e.Expires).To(Equal(e.Time.Add(168 * time.Hour)))
		}
	})
}

// A table that does not answer holds nobody up, and what it missed is written
// when it is back.
func TestAnOutageLosesNothingThatFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), memory.New()
		trail, stop := running(t, table)
		defer stop()
		tries := 0
		table.Intercept(func(op memory.Op) memory.Fault {
			tries++
			return memory.Refuse(ownership.ErrUnavailable)
		})
		for i := range 20 {
			trail.Add(entry(i))
			time.Sleep(3 * time.Second)
		}
		g.Expect(tries).To(BeNumerically("<", 8), "the table is spared")
		table.Intercept(nil)
		time.Sleep(time.Minute)
		g.Expect(written(t, table)).To(HaveLen(20))
	})
}

func TestTheOldestAreDroppedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), memory.New()
		trail, stop := running(t, table)
		defer stop()
		before := dropped(g)
		table.Intercept(func(memory.Op) memory.Fault { return memory.Refuse(ownership.ErrForbidden) })
		for i := range capacity + 7 {
			trail.Add(entry(i))
		}
		synctest.Wait()
		table.Intercept(nil)
		time.Sleep(time.Minute)
		ids := written(t, table)
		g.Expect(ids).To(HaveLen(capacity))
		g.Expect(ids[0]).To(Equal("7"))
		g.Expect(dropped(g) - before).To(BeEquivalentTo(7))
	})
}

// hanging answers when it is released, or when the call is given up.
type hanging struct {
	*memory.Table
	release chan struct{}
}

func (h hanging) Record(ctx context.Context, e history.Entry) error {
	select {
	case <-h.release:
		return h.Table.Record(ctx, e)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ownership.ErrUnavailable, ctx.Err())
	}
}

// The head of the queue may be dropped while it is on its way to the table.
// Then the next one is not taken for it.
func TestAnEntryDroppedWhileItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), hanging{memory.New(), make(chan struct{})}
		trail, stop := running(t, table)
		defer stop()
		trail.Add(entry(0))
		synctest.Wait() // it is under way
		for i := range capacity {
			trail.Add(entry(i + 1))
		}
		close(table.release)
		time.Sleep(time.Minute)
		g.Expect(written(t, table.Table)).To(HaveLen(capacity + 1))
	})
}

// An entry that the table will never take does not hold up the others.
func TestAnEntryThatCannotBeWrittenIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), memory.New()
		before, first := dropped(g), true
		table.Intercept(func(memory.Op) memory.Fault {
			if first {
				first = false
				return memory.Refuse(fmt.Errorf("malformed"))
			}
			return memory.Fault{}
		})
		trail, stop := running(t, table)
		defer stop()
		trail.Add(entry(1))
		trail.Add(entry(2))
		synctest.Wait()
		g.Expect(written(t, table)).To(Equal([]string{"2"}))
		g.Expect(dropped(g) - before).To(BeEquivalentTo(1))
	})
}

// At the end of the process: what passes did last is written, and a table that
// hangs delays the end no longer than it is given.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), hanging{memory.New(), make(chan struct{})}
		trail, stop := running(t, table)
		trail.Add(entry(1))
		synctest.Wait()
		stop()
		trail.Add(entry(2)) // of a pass that was under way

		before, began := dropped(g), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		trail.Flush(ctx)
		g.Expect(time.Since(began)).To(Equal(5 * time.Second))
		g.Expect(dropped(g) - before).To(BeEquivalentTo(2))

		trail.Add(entry(3))
		close(table.release)
		trail.Flush(t.Context())
		g.Expect(written(t, table.Table)).To(Equal([]string{"3"}))
	})
}
