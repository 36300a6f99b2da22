package ownership_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func unsure(ts ...ownership.Target) ownership.Result {
	r := ownership.Result{Unsure: map[ownership.Target]error{}}
	for _, t := range ts {
		r.Unsure[t] = errNoAnswer
	}
	return r
}

func TestARegistrationInDoubt(t *testing.T) {
	b := newBench(t)
	l := b.ledger("a")
	b.look(l)
	b.flag(l, targets{x}, nil)
	b.look(l)
	l.Registered(unsure(x))
	s := l.State(x)
	b.Expect(s.Presence).To(Equal(ownership.Unknown))
	b.Expect(s.FailedNow).To(MatchError(errNoAnswer))
	b.Expect(s.ReturnBy).To(Equal(b.now.Add(ownership.Settle)))
	l.Begin(b.now)
	b.Expect(l.State(x).FailedNow).To(BeNil(), "the next pass tries again")
	b.Expect(l.State(x).Looked).To(BeFalse(), "after another look")

	// Taken out meanwhile: it may come back until then, and has to be taken
	// out once more after that.
	b.flag(l, nil, targets{x})
	b.look(l)
	l.Deregistered(ownership.Result{Done: targets{x}}, b.now)
	b.Expect(l.State(x).Presence).To(Equal(ownership.Gone))
	b.Expect(l.State(x).ReturnBy).NotTo(BeZero())
	b.now = b.now.Add(ownership.Settle)
	b.Expect(l.State(x).ReturnBy).To(BeZero())
	b.Expect(l.State(x).Presence).To(Equal(ownership.Unknown))
	l.Deregistered(ownership.Result{Done: targets{x}}, b.now)
	b.Expect(l.State(x).Presence).To(Equal(ownership.Gone))
}

func TestADeregistrationInDoubt(t *testing.T) {
	b := newBench(t)
	l := b.releasing("a", x)
	l.Deregistered(unsure(x), b.now)
	s := l.State(x)
	b.Expect(s.Presence).NotTo(Equal(ownership.Gone))
	b.Expect(s.LeaveBy).To(Equal(b.now.Add(ownership.Settle)))
	b.Expect(s.Late).To(BeFalse(), "others wait for as long")
	b.now = b.now.Add(ownership.Settle)
	b.Expect(l.State(x).LeaveBy).To(BeZero())
}

func TestARefusedCallLeavesNothingBehind(t *testing.T) {
	b := newBench(t)
	l := b.releasing("a", x)
	l.Deregistered(ownership.Result{Refused: map[ownership.Target]error{x: ownership.ErrGroupThrottled}}, b.now)
	s := l.State(x)
	b.Expect(s.FailedNow).To(MatchError(ownership.ErrGroupThrottled))
	b.Expect(s.Presence).To(Equal(ownership.Registered))
	b.Expect(s.LeaveBy).To(BeZero())
}

// An answer that comes after Settle: the process was frozen, and others have
// stopped waiting. Only another look says whether somebody has it now.
func TestALateDeregistrationNeedsAnotherLook(t *testing.T) {
	b := newBench(t)
	l := b.releasing("a", x)
	begun := b.now
	b.now = b.now.Add(ownership.Settle + time.Nanosecond)
	l.Deregistered(ownership.Result{Done: targets{x}}, begun)
	b.Expect(l.State(x).Late).To(BeTrue())
	b.Expect(l.State(x).Looked).To(BeFalse())
	b.look(l)
	b.Expect(l.State(x).Looked).To(BeTrue())
	l.Registered(ownership.Result{Done: targets{x}}) // given back
	b.Expect(l.State(x).Looked).To(BeFalse(), "giving back needs another look after it")
}

// While it was in releasing, nobody had to respect it.
func TestAClaimedBackTargetIsNotTakenAsRegistered(t *testing.T) {
	b := newBench(t)
	l := b.releasing("a", x)
	b.Expect(l.State(x).Presence).To(Equal(ownership.Registered))
	b.flag(l, targets{x}, nil)
	b.Expect(l.State(x).Presence).To(Equal(ownership.Unknown))
}

func TestListed(t *testing.T) {
	b := newBench(t)
	b.holding("a", x, y)
	b.releasing("b", y)
	l := b.ledger("a")
	b.look(l)
	b.flag(l, targets{z}, nil)
	b.look(l)
	b.Expect(l.Listed(ownership.Set{x: true, y: true, z: true, "10.9.0.1:80": true})).To(BeEmpty())
	for target, want := range map[ownership.Target]ownership.Presence{
		x: ownership.Registered, // inherited and listed
		y: ownership.Unknown,    // another owner is taking it out
		z: ownership.Unknown,    // a new claim is registered whatever a listing says
	} {
		b.Expect(l.State(target).Presence).To(Equal(want), string(target))
	}
	b.Expect(l.Tally().External).To(Equal(1))

	b.Expect(l.Listed(ownership.Set{z: true})).To(Equal(targets{x}), "taken out by hand")
	b.Expect(l.State(x).Presence).To(Equal(ownership.Unknown))
}
