package web

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// slowHistory has one entry, and takes its time for it.
type slowHistory struct {
	takes      time.Duration
	calls, now atomic.Int32
	most       atomic.Int32
}

func (h *slowHistory) History(ctx context.Context, q history.Query) iter.Seq2[history.Entry, error] {
	return func(yield func(history.Entry, error) bool) {
		h.calls.Add(1)
		h.most.Store(max(h.most.Load(), h.now.Add(1)))
		defer h.now.Add(-1)
		select {
		case <-time.After(h.takes):
			yield(history.Entry{Group: q.Group}, nil)
		case <-ctx.Done():
			yield(history.Entry{}, ctx.Err())
		}
	}
}

// Who gives up waiting gets an answer at once, and takes none from others.
func TestHistoryForThoseWhoGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, h := NewWithT(t), &slowHistory{takes: 5 * time.Second}
		p := newPast(t.Context(), h, 10*time.Second)
		began := time.Now()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(p.of(hurried, "blue").Error).To(ContainSubstring("deadline"))
		g.Expect(time.Since(began)).To(Equal(time.Second))
		g.Expect(p.of(t.Context(), "blue").Entries).To(HaveLen(1))
		g.Expect(time.Since(began)).To(Equal(5 * time.Second))
		g.Expect(h.calls.Load()).To(BeEquivalentTo(1))
	})
}

// One group that takes long holds up no other, and nobody reads all at once.
func TestHistoryOfManyGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, h := NewWithT(t), &slowHistory{takes: time.Second}
		p := newPast(t.Context(), h, 10*time.Second)
		began := time.Now()
		answers := make(chan account)
		for i := range 12 {
			for range 3 {
				go func() { answers <- p.of(t.Context(), ownership.GroupARN(fmt.Sprint("group", i))) }()
			}
		}
		for range 36 {
			g.Expect((<-answers).Entries).To(HaveLen(1))
		}
		g.Expect(time.Since(began)).To(Equal(3 * time.Second))
		g.Expect(h.calls.Load()).To(BeEquivalentTo(12))
		g.Expect(h.most.Load()).To(BeEquivalentTo(readsAtOnce))

		time.Sleep(time.Minute)
		g.Expect(p.of(t.Context(), "group0").Entries).To(HaveLen(1))
		g.Expect(p.readings).To(HaveLen(1), "what nobody looks at is forgotten")
	})
}
