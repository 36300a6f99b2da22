package ownership_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/clocktest"
)

func TestASleepingMachineGetsOlder(t *testing.T) {
	b := newBench(t)
	b.now = time.Now()
	b.holding("b", y)
	l := b.holding("a", x, y)
	b.flag(l, nil, targets{x})
	b.look(l)
	look, awake := l.Current(), b.now.Add(ownership.CallBudget)
	b.Expect(awake.Sub(b.now)).To(Equal(ownership.CallBudget))
	b.Expect(look.Remove(targets{x}).Left(awake)).To(BeZero())

	b.now = clocktest.Asleep(b.now, time.Minute)
	b.Expect(b.now.Sub(awake)).To(Equal(-ownership.CallBudget), "no monotonic time has passed")
	b.Expect(look.Remove(targets{x}).Left(b.now)).To(Equal(-40 * time.Second))
	b.Expect(look.Admit(targets{y}).Left(b.now)).To(Equal(-40 * time.Second))
	b.Expect(l.State(x).Expired).To(BeTrue())

	setBack := clocktest.Asleep(awake, -time.Hour).Add(time.Second)
	b.Expect(setBack.Round(0).Before(awake.Round(0))).To(BeTrue())
	b.Expect(ownership.Elapsed(awake, setBack)).To(Equal(time.Second), "a clock that was set back has no say")
}

// What it wants may be from before it slept.
func TestAPassThatSleptTakesNothingOver(t *testing.T) {
	b := newBench(t)
	b.now = time.Now()
	b.holding("a", x)
	l := b.ledger("a")
	b.look(l)
	l.Begin(b.now)
	b.now = clocktest.Asleep(b.now, time.Minute)
	b.Expect(l.Flag(t.Context(), nil, targets{x})).To(MatchError(ownership.ErrLookExpired))
}

// A pass is as old as what it wants.
func TestAPassThatReadWhatItWantsLongAgoTakesNothingOver(t *testing.T) {
	b := newBench(t)
	b.holding("a", x)
	l := b.ledger("a")
	l.Begin(b.now.Add(-ownership.CallBudget - time.Second))
	b.look(l)
	b.Expect(l.Flag(t.Context(), nil, targets{x})).To(MatchError(ownership.ErrLookExpired))
	l.Begin(b.now.Add(-ownership.CallBudget))
	b.look(l)
	b.flag(l, nil, targets{x})
}

// Others may still be awake: their flags are waited for on the slower hand.
func TestSleepDoesNotMakeOthersStale(t *testing.T) {
	b := newBench(t)
	b.now = time.Now()
	b.releasing("b", x)
	l := b.ledger("a")
	b.look(l)
	b.now = clocktest.Asleep(b.now, time.Hour)
	b.look(l)
	b.Expect(l.Current().At(x).Release).To(BeTrue())
	b.now = b.now.Add(ownership.Settle)
	b.look(l)
	b.Expect(l.Current().At(x).Release).To(BeFalse())
}
