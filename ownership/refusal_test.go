package ownership_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func invalid(t ownership.Target) ownership.Result {
	return ownership.Result{Refused: map[ownership.Target]error{t: fmt.Errorf("%w: not running", ownership.ErrInvalidTarget)}}
}

func claimed(t *testing.T) (*bench, *ownership.Ledger) {
	b := newBench(t)
	l := b.ledger("a")
	b.look(l)
	b.flag(l, targets{x}, nil)
	b.look(l)
	return b, l
}

func TestARefusedTargetIsAskedForLessAndLess(t *testing.T) {
	b, l := claimed(t)
	for _, after := range []time.Duration{2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30} {
		l.Registered(invalid(x))
		b.Expect(l.State(x).Refused).To(MatchError(ownership.ErrInvalidTarget))
		b.Expect(l.State(x).RetryAt).To(Equal(b.now.Add(after * time.Second)))
		l.Begin(b.now)
		b.Expect(l.State(x).FailedNow).To(BeNil())
		b.now = l.State(x).RetryAt
		b.Expect(l.State(x).RetryAt).To(BeZero(), "its turn")
		b.Expect(l.State(x).Refused).NotTo(BeNil())
	}
	l.Registered(ownership.Result{Done: targets{x}})
	b.Expect(l.State(x).Refused).To(BeNil())
}

// A group that is full or an API that throttles says nothing about the
// target.
func TestWhatIsNoFaultOfTheTargetIsTriedInTheNextPass(t *testing.T) {
	b, l := claimed(t)
	for _, err := range []error{ownership.ErrGroupFull, ownership.ErrGroupThrottled, ownership.ErrNotTried, ownership.ErrLookExpired} {
		l.Registered(ownership.Result{Refused: map[ownership.Target]error{x: err}})
		b.Expect(l.State(x).FailedNow).To(MatchError(err))
		b.Expect(l.State(x).Refused).To(BeNil())
		b.Expect(l.State(x).RetryAt).To(BeZero())
	}
}

func TestAReleaseDoesNotWaitForARefusedRegistration(t *testing.T) {
	b, l := claimed(t)
	l.Registered(invalid(x))
	b.flag(l, nil, targets{x})
	b.Expect(l.State(x).Refused).To(BeNil())
	b.Expect(l.State(x).RetryAt).To(BeZero())

	b.look(l)
	l.Deregistered(invalid(x), b.now)
	b.flag(l, targets{x}, nil)
	b.Expect(l.State(x).Refused).To(BeNil(), "nor a claim for a refused deregistration")
}

// An instance that no longer exists cannot be deregistered. A listing without
// it says that there is nothing to deregister.
func TestARefusedDeregistrationOfWhatIsNotThere(t *testing.T) {
	b := newBench(t)
	l := b.releasing("a", x, y)
	l.Deregistered(invalid(x), b.now)
	l.Listed(ownership.Set{x: true})
	b.Expect(l.State(x).Presence).NotTo(Equal(ownership.Gone), "it is there")
	b.look(l)
	l.Listed(ownership.Set{})
	b.Expect(l.State(x).Presence).To(Equal(ownership.Gone))
	b.Expect(l.State(y).Presence).NotTo(Equal(ownership.Gone), "a listing alone may lag")
}

// The record of a binding that is gone was deleted by the process that leads
// now. To the one before it looks like a lost row.
func TestAPassEndsWhereItsRecordIsGone(t *testing.T) {
	b := newBench(t)
	old := b.holding("a", x)
	lead := b.ledger("a")
	b.look(lead)
	b.Expect(lead.Forget(t.Context())).To(Succeed())

	b.Expect(old.Reread(t.Context())).To(MatchError(ownership.ErrConflict))
	b.Expect(old.Inherited()).To(BeTrue())
	b.Expect(old.State(x).Lost).To(BeTrue())
}

func TestReread(t *testing.T) {
	b := newBench(t)
	old := b.holding("a", x)
	b.Expect(old.Reread(t.Context())).To(Succeed())

	lead := b.ledger("a")
	b.Expect(lead.Reread(t.Context())).To(Succeed(), "it knew of no record that it could have lost")
	b.flag(lead, targets{y}, nil)
	b.Expect(old.Reread(t.Context())).To(MatchError(ownership.ErrConflict))
}
