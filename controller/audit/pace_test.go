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

// What docs/decisions/0005 says of the pace.
const (
	perSecond = 20 // KB
	atOnce    = 100
)

// busy is a table that notes each try to write history, and throttles for as
// long as it is told to.
type busy struct {
	*memory.Table
	throttles bool
	tries     []try
}

type try struct {
	at    time.Time
	kb    int
	taken bool
}

func (b *busy) Record(ctx context.Context, e history.Entry) error {
	b.tries = append(b.tries, try{time.Now(), (e.Size() + 1023) / 1024, !b.throttles})
	if b.throttles {
		return fmt.Errorf("%w: too many writes", ownership.ErrThrottled)
	}
	return b.Table.Record(ctx, e)
}

// pauses are the times between the tries from the one of that index on.
func (b *busy) pauses(from int) []time.Duration {
	var pauses []time.Duration
	for i := from + 1; i < len(b.tries); i++ {
		pauses = append(pauses, b.tries[i].at.Sub(b.tries[i-1].at))
	}
	return pauses
}

func seconds(list ...float64) []time.Duration {
	var durations []time.Duration
	for _, s := range list {
		durations = append(durations, time.Duration(s*float64(time.Second)))
	}
	return durations
}

// replaced is the entry of a pass in which n targets came and n others went.
func replaced(i, n int) history.Entry {
	e := entry(i)
	list := func(network string) (targets []ownership.Target) {
		for k := range n {
			targets = append(targets, ownership.Target(fmt.Sprintf("10.%s.%d.%d:8080", network, k/250, k%250)))
		}
		return targets
	}
	e.Events = []history.Event{
		{What: history.Claimed, Reason: "the endpoint is live", Targets: list("1")},
		{What: history.Releasing, Reason: "the endpoint is gone", Targets: list("2")},
	}
	return e
}

// A table that throttles gets fewer and fewer tries, and when it no longer does,
// more and more.
func TestHistoryStandsBackBehindRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), &busy{Table: memory.New(), throttles: true}
		trail, stop := running(t, table)
		defer stop()
		for i := range 60 {
			trail.Add(entry(i))
		}
		time.Sleep(2 * time.Minute)
		g.Expect(table.pauses(0)).To(Equal(seconds(1, 2, 4, 8, 16, 30, 30)))

		table.throttles = false
		time.Sleep(2 * time.Minute)
		g.Expect(written(t, table.Table)).To(HaveLen(60))
		g.Expect(table.pauses(7)[:11]).To(Equal(seconds(30, 15, 7.5, 3.75, 1.875, 0.9375, 0.46875, 0.234375, 0.1171875, 0.05859375, 0)))

		// It does not begin anew where it had been at full rate.
		from := len(table.tries)
		table.throttles = true
		trail.Add(entry(60))
		time.Sleep(4 * time.Second)
		g.Expect(table.pauses(from)).To(Equal(seconds(1, 2)))
	})
}

// A table that throttles now and then is not tried at full rate in between.
func TestOneSuccessDoesNotEndTheStandingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), &busy{Table: memory.New(), throttles: true}
		trail, stop := running(t, table)
		defer stop()
		for i := range 60 {
			trail.Add(entry(i))
		}
		time.Sleep(20 * time.Second) // the pause is of 16 s by now
		table.throttles = false
		time.Sleep(15 * time.Second)
		table.throttles = true
		time.Sleep(30 * time.Second)
		g.Expect(table.pauses(4)).To(Equal(seconds(16, 8, 16)))
	})
}

// Whatever happens in the groups, the table gets no more than the rate: 3,000
// targets that are replaced by others, in passes of 150.
func TestTheRateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), &busy{Table: memory.New()}
		trail, stop := running(t, table)
		defer stop()
		began := time.Now()
		for i := range 20 {
			trail.Add(replaced(i, 150))
		}
		time.Sleep(5 * time.Minute)
		g.Expect(written(t, table.Table)).To(HaveLen(20))

		total := 0
		for _, first := range table.tries {
			kb := 0
			for _, w := range table.tries {
				if !w.at.Before(first.at) {
					kb += w.kb
					allowed := atOnce + perSecond*w.at.Sub(first.at).Seconds()
					g.Expect(float64(kb)).To(BeNumerically("<=", allowed+1e-6), "%s after %s", w.at.Sub(first.at), first.at.Sub(began))
				}
			}
			total += first.kb
		}
		g.Expect(total).To(BeNumerically(">", 1.5*atOnce), "it is no longer a burst")
		needed := time.Duration(float64(total-atOnce) / perSecond * float64(time.Second))
		last := table.tries[len(table.tries)-1].at.Sub(began)
		g.Expect(last).To(BeNumerically("~", needed, time.Millisecond), "the rate is used")
	})
}

// What ten large passes have to tell waits for nothing.
func TestNormalPassesAreWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), &busy{Table: memory.New()}
		trail, stop := running(t, table)
		defer stop()
		for i := range 10 {
			trail.Add(replaced(i, 100))
		}
		synctest.Wait()
		g.Expect(table.tries).To(HaveLen(10))
	})
}

// A pass over 3,000 targets goes out in parts, none of which is too large for
// the rate.
func TestALargePassIsWrittenInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), &busy{Table: memory.New()}
		trail, stop := running(t, table)
		defer stop()
		trail.Add(replaced(1, 3000))
		trail.Add(entry(2))
		time.Sleep(time.Minute)
		ids := written(t, table.Table)
		g.Expect(ids).To(HaveLen(2*3000/history.MaxTargets + 1))
		g.Expect(ids[0]).To(Equal("1"))
		g.Expect(ids[len(ids)-1]).To(Equal("2"))
		for _, w := range table.tries {
			g.Expect(w.kb).To(BeNumerically("<=", 10))
		}
	})
}

// What is dropped during a pause is not written after it, and counted once.
func TestDroppedDuringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), &busy{Table: memory.New(), throttles: true}
		trail, stop := running(t, table)
		defer stop()
		before := dropped(g)
		trail.Add(entry(0))
		time.Sleep(20 * time.Second) // a pause of 16 s has begun
		table.throttles = false
		for i := range capacity + 9 {
			trail.Add(entry(i + 1))
		}
		time.Sleep(5 * time.Minute)
		ids := written(t, table.Table)
		g.Expect(ids).To(HaveLen(capacity))
		g.Expect(ids[0]).To(Equal("10"))
		g.Expect(dropped(g) - before).To(BeEquivalentTo(10))
	})
}

// That a write was given up because the process ends is no trouble of the
// table's.
func TestTheEndIsNoReasonToPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, table := NewWithT(t), hanging{memory.New(), make(chan struct{})}
		trail, stop := running(t, table)
		trail.Add(entry(1))
		synctest.Wait() // it is under way
		stop()
		close(table.release)
		g.Expect(flush(t, trail)).To(BeZero())
		g.Expect(written(t, table.Table)).To(Equal([]string{"1"}))
	})
}

// At the end the table is not pressed: what cannot be written in time is dropped
// without waiting for the end of that time.
func TestFlushKeepsThePace(t *testing.T) {
	for name, c := range map[string]struct {
		throttled time.Duration // before the end
		entries   int
		written   int
		took      time.Duration
	}{
		"calm":                   {entries: 20, written: 20},
		"more than the rate has": {entries: 400, written: atOnce + 5*perSecond - 1, took: ending},
		"throttled a moment ago": {entries: 1, written: 1, throttled: 2 * time.Second, took: time.Second},
		"throttled for long":     {entries: 3, written: 0, throttled: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, table := NewWithT(t), &busy{Table: memory.New(), throttles: c.throttled > 0}
				before := dropped(g)
				trail, stop := running(t, table)
				trail.Add(entry(0))
				time.Sleep(c.throttled)
				stop()
				for i := range c.entries - 1 {
					trail.Add(entry(i + 1))
				}
				table.throttles = false
				g.Expect(flush(t, trail)).To(BeNumerically("~", c.took, 50*time.Millisecond))
				ids := written(t, table.Table)
				g.Expect(ids).To(HaveLen(c.written))
				g.Expect(dropped(g) - before).To(BeEquivalentTo(c.entries - c.written))
			})
		})
	}
}

// ending is how long the end may take. No entry is due at that very moment.
const ending = 5*time.Second - time.Millisecond

// flush is the end of the process. It returns how long it took.
func flush(t *testing.T, trail *audit.Trail) time.Duration {
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), ending)
	defer cancel()
	trail.Flush(ctx)
	return time.Since(began)
}
