package ownership_test

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

var errNoAnswer = errors.New("no answer")

// Field case 12: what another process left may have its calls under way, and
// until we write it may begin new ones.
func TestAnInheritedRecord(t *testing.T) {
	b := newBench(t)
	old := b.holding("a", x, y)
	b.flag(old, nil, targets{y})

	lead := b.ledger("a")
	b.look(lead)
	b.Expect(lead.Inherited()).To(BeTrue())
	b.Expect(lead.State(x).Presence).To(Equal(ownership.Unknown), "claimed perhaps, and not registered yet")
	b.Expect(lead.Current().Remove(targets{y}).Left(b.now)).To(BeNumerically("<", 0), "nothing before the fence")

	b.now = b.now.Add(30 * time.Second)
	b.Expect(lead.Flag(t.Context(), nil, nil)).To(MatchError(ownership.ErrLookExpired), "it may have been succeeded since")
	lead.Begin(b.now)
	b.flag(lead, nil, nil)
	b.Expect(lead.Inherited()).To(BeFalse())
	settled := b.now.Add(ownership.Settle)
	b.Expect(lead.State(x).ReturnBy).To(Equal(settled), "counts from our write")
	b.Expect(lead.State(x).LeaveBy).To(BeZero())
	b.Expect(lead.State(y).LeaveBy).To(Equal(settled))
	b.Expect(lead.State(y).ReturnBy).To(Equal(settled))
	b.Expect(lead.State(y).Late).To(BeTrue())

	// The old leader is fenced off: its write fails, and what it knew is void.
	b.Expect(old.Drop(t.Context(), targets{y})).To(MatchError(ownership.ErrConflict))
	b.Expect(old.Inherited()).To(BeTrue())
	b.Expect(old.State(x).Presence).To(Equal(ownership.Unknown))
	b.expectStored("a", 3, targets{x}, targets{y})

	b.now = settled
	b.Expect(lead.State(y).LeaveBy).To(BeZero())
	b.Expect(lead.State(x).ReturnBy).To(BeZero())
}

func TestAnInheritedRecordThatOnlyHoldsIsFencedToo(t *testing.T) {
	b := newBench(t)
	old := b.holding("a", x)
	lead := b.ledger("a")
	b.look(lead)
	b.Expect(lead.Inherited()).To(BeTrue())
	b.flag(lead, nil, nil)
	b.Expect(old.Flag(t.Context(), nil, targets{x})).To(MatchError(ownership.ErrConflict))
	b.expectStored("a", 2, targets{x}, nil)
}

func TestThereIsNothingToFenceInAnEmptyRecord(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	b.flag(l, nil, targets{x})
	b.Expect(l.Drop(t.Context(), targets{x})).To(Succeed())
	lead := b.ledger("a")
	b.look(lead)
	b.Expect(lead.Inherited()).To(BeFalse())
}

// Rows deleted by hand, or a table restored from before they were written.
func TestLostRowsAreRemembered(t *testing.T) {
	b := newBench(t)
	empty := b.table.Snapshot()
	l := b.holding("a", x, y, z)
	b.flag(l, nil, targets{y})
	b.look(l)
	l.Deregistered(ownership.Result{Unsure: map[ownership.Target]error{y: errNoAnswer}}, b.now)
	b.table.Restore(empty)
	b.look(l)

	for _, target := range (targets{x, y, z}) {
		s := l.State(target)
		b.Expect(s.Entry).To(Equal(ownership.Unrecorded))
		b.Expect(s.Lost).To(BeTrue())
		b.Expect(s.LeaveBy).To(Equal(b.now.Add(ownership.Settle)), "our call may still be under way")
	}
	var seen targets
	for s := range l.States(ownership.Set{x: true}) {
		seen = append(seen, s.Target)
	}
	b.Expect(seen).To(ConsistOf(x, y, z))

	b.flag(l, targets{x}, targets{y})
	b.expectStored("a", 1, targets{x}, targets{y})
	b.Expect(l.State(x).Lost).To(BeFalse())
	b.Expect(l.State(y).LeaveBy).To(Equal(b.now.Add(ownership.Settle)))
	b.Expect(l.State(z).Lost).To(BeTrue())
}

func TestARestoredRecordIsTakenOverWithWhatItLacks(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	yesterday := b.table.Snapshot()
	b.flag(l, targets{y}, nil)
	b.table.Restore(yesterday)
	b.look(l)
	b.Expect(l.Inherited()).To(BeTrue())
	b.Expect(l.State(x).Entry).To(Equal(ownership.Held))
	b.Expect(l.State(y).Lost).To(BeTrue())
}

// The binding was deleted and made anew, and then yesterday's table came back
// with the long history of the binding before it.
func TestARestoredRecordOfAnEarlierBinding(t *testing.T) {
	b := newBench(t)
	earlier := b.holding("a", y)
	b.flag(earlier, targets{z}, nil)
	yesterday := b.table.Snapshot()
	b.Expect(earlier.Forget(t.Context())).To(Succeed())

	l := ownership.NewLedger(b.table, ownership.Identity{Group: arn, Owner: owner("a"), BindingUID: "another"},
		ownership.Env{Now: func() time.Time { return b.now }, NewID: b.newID})
	b.look(l)
	b.flag(l, targets{x}, nil)
	b.table.Restore(yesterday)
	b.look(l)
	b.Expect(l.State(x).Lost).To(BeTrue())
	b.Expect(l.State(y).Entry).To(Equal(ownership.Held))
}

// A record that was deleted and written anew up to the same version is not
// the one that we knew.
func TestTheSameVersionOfAnotherRecord(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	b.table.Wipe()
	b.holding("a", y)
	b.look(l)
	b.Expect(l.Record().Held).To(HaveKey(y))
	b.Expect(l.Inherited()).To(BeTrue())
	b.Expect(l.State(x).Lost).To(BeTrue())
}

func TestOurOwnUnreadableRecord(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	b.table.Break(ownership.Key{Group: arn, Owner: owner("a")}, "schema version 2")
	err := l.Look(t.Context())
	var unreadable *ownership.UnreadableError
	b.Expect(errors.As(err, &unreadable)).To(BeTrue())
	b.Expect(err).To(MatchError("our record a/shop/web cannot be read: schema version 2"))
	b.Expect(l.Loaded()).To(BeFalse())
	b.Expect(l.Current()).To(BeNil())
}

func TestAFailedLookAllowsNothing(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	b.flag(l, nil, targets{x})
	b.next(memory.Records, memory.Refuse(ownership.ErrForbidden))
	b.Expect(l.Look(t.Context())).To(MatchError(ownership.ErrForbidden))
	b.Expect(l.Current()).To(BeNil())
	b.Expect(l.State(x).Looked).To(BeFalse())
}
