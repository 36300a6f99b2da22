package ownership_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// retrying loses the first reply of every write and tries again, as an SDK
// does: the retry fails the condition that its own first try has changed.
type retrying struct {
	*memory.Table
	bench *bench
}

func (s retrying) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	s.bench.next(memory.Put, memory.LoseReply())
	_ = s.Table.Put(ctx, next, seen)
	return s.Table.Put(ctx, next, seen)
}

func (s retrying) Delete(ctx context.Context, rec ownership.Record) error {
	s.bench.next(memory.Delete, memory.LoseReply())
	_ = s.Table.Delete(ctx, rec)
	return s.Table.Delete(ctx, rec)
}

// everyWrite are the kinds of writes, in an order in which they can be made.
var everyWrite = []struct {
	name            string
	write           func(context.Context, *ownership.Ledger) error
	held, releasing targets
	gone            bool
}{
	{name: "create", held: targets{x, y}, write: func(ctx context.Context, l *ownership.Ledger) error {
		return l.Flag(ctx, targets{x, y}, nil)
	}},
	{name: "claim", held: targets{x, y, z}, write: func(ctx context.Context, l *ownership.Ledger) error {
		return l.Flag(ctx, targets{z}, nil)
	}},
	{name: "release", held: targets{y}, releasing: targets{x, z}, write: func(ctx context.Context, l *ownership.Ledger) error {
		return l.Flag(ctx, nil, targets{x, z})
	}},
	{name: "claim back", held: targets{x, y}, releasing: targets{z}, write: func(ctx context.Context, l *ownership.Ledger) error {
		return l.Flag(ctx, targets{x}, nil)
	}},
	{name: "drop", held: targets{x, y}, write: func(ctx context.Context, l *ownership.Ledger) error {
		return l.Drop(ctx, targets{z})
	}},
	{name: "delete", gone: true, write: func(ctx context.Context, l *ownership.Ledger) error {
		return l.Forget(ctx)
	}},
}

// Field case 9, for every kind of write.
func TestALostReplyIsRecognisedByTheRetry(t *testing.T) {
	b := newBench(t)
	l := b.over(retrying{b.table, b}, "a")
	b.look(l)
	for i, w := range everyWrite {
		b.Expect(w.write(t.Context(), l)).To(Succeed(), w.name)
		b.Expect(l.Loaded()).To(BeTrue(), w.name)
		b.Expect(l.Inherited()).To(BeFalse(), w.name)
		if w.gone {
			_, found := b.stored("a")
			b.Expect(found).To(BeFalse())
			continue
		}
		b.Expect(l.Current()).To(BeNil(), w.name+": a look has to follow the flags")
		b.expectStored("a", int64(i+1), w.held, w.releasing)
		stored, _ := b.stored("a")
		b.Expect(l.Record()).To(Equal(stored), w.name)
	}
}

// Without a retry the next look tells.
func TestALostReplyIsRecognisedByTheNextLook(t *testing.T) {
	b := newBench(t)
	l := b.ledger("a")
	b.look(l)
	for i, w := range everyWrite {
		kind := memory.Put
		if w.gone {
			kind = memory.Delete
		}
		b.next(kind, memory.LoseReply())
		b.Expect(w.write(t.Context(), l)).To(MatchError(ownership.ErrUnavailable), w.name)
		b.Expect(l.Loaded()).To(BeFalse(), w.name)
		b.look(l)
		b.Expect(l.Inherited()).To(BeFalse(), w.name)
		if w.gone {
			b.Expect(l.Record().Revision).To(Equal(ownership.Revision{}))
			b.Expect(l.State(x).Lost).To(BeFalse(), "what we deleted is not lost")
			continue
		}
		b.expectStored("a", int64(i+1), w.held, w.releasing)
		stored, _ := b.stored("a")
		b.Expect(l.Record()).To(Equal(stored), w.name)
	}
}

// A write that may land any time later is kept from it by another one.
func TestAWriteInDoubtIsFenced(t *testing.T) {
	b := newBench(t)
	l := b.ledger("a")
	b.look(l)
	for i, w := range everyWrite {
		kind := memory.Put
		if w.gone {
			kind = memory.Delete
		}
		before := l.Record()
		b.next(kind, memory.Delay())
		b.Expect(w.write(t.Context(), l)).To(MatchError(ownership.ErrUnavailable), w.name)
		b.look(l)
		b.Expect(l.Inherited()).To(BeTrue(), w.name)
		b.flag(l, nil, nil)
		b.Expect(l.Inherited()).To(BeFalse(), w.name)
		b.Expect(b.table.Land(0)).To(MatchError(ownership.ErrConflict), w.name)

		stored, _ := b.stored("a")
		b.Expect(stored.Version).To(Equal(int64(2*i + 1)))
		b.Expect(stored.Held).To(Equal(before.Held), w.name)
		b.Expect(w.write(t.Context(), l)).To(Succeed(), w.name)
	}
}

func TestAWriteThatLandsBeforeTheFenceIsRecognised(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	b.next(memory.Put, memory.Delay())
	b.Expect(l.Flag(t.Context(), nil, targets{x})).To(MatchError(ownership.ErrUnavailable))
	b.look(l)
	b.Expect(b.table.Land(0)).To(Succeed())
	b.Expect(l.Flag(t.Context(), nil, nil)).To(MatchError(ownership.ErrConflict))
	b.expectStored("a", 2, nil, targets{x})
	b.Expect(l.Inherited()).To(BeFalse())
	b.Expect(l.State(x).Entry).To(Equal(ownership.Releasing))
	b.Expect(l.State(x).LeaveBy).To(BeZero(), "it is our own release, and nothing was called")
}

func TestARefusedWriteChangesNothing(t *testing.T) {
	for _, class := range []error{ownership.ErrThrottled, ownership.ErrForbidden, ownership.ErrTableMissing, ownership.ErrTableCreating, ownership.ErrTooLarge} {
		b := newBench(t)
		l := b.holding("a", x)
		b.next(memory.Put, memory.Refuse(class))
		b.Expect(l.Flag(t.Context(), targets{y}, targets{x})).To(MatchError(class))
		b.Expect(l.Loaded()).To(BeTrue())
		b.Expect(l.Inherited()).To(BeFalse())
		b.Expect(l.State(x).Presence).To(Equal(ownership.Registered))
		b.expectStored("a", 1, targets{x}, nil)
	}
}

// A conflict that cannot be looked into leaves nothing to believe.
func TestAConflictWithoutALookIsNotBelieved(t *testing.T) {
	b := newBench(t)
	store := &unreadableTable{retrying: retrying{b.table, b}}
	l := b.over(store, "a")
	b.look(l)
	store.fails = true
	b.Expect(l.Flag(t.Context(), targets{x}, nil)).To(MatchError(ownership.ErrThrottled))
	b.Expect(l.Loaded()).To(BeFalse())
	store.fails = false
	b.look(l)
	b.Expect(l.State(x).Entry).To(Equal(ownership.Held))
	b.Expect(l.Inherited()).To(BeFalse())
}

type unreadableTable struct {
	retrying
	fails bool
}

func (s *unreadableTable) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	if s.fails {
		return ownership.Records{}, ownership.ErrThrottled
	}
	return s.retrying.Records(ctx, group)
}

func TestForget(t *testing.T) {
	b := newBench(t)
	b.Expect(b.ledger("a").Forget(t.Context())).To(Succeed(), "there is nothing to forget")

	b.holding("a", x)
	b.Expect(b.ledger("a").Forget(t.Context())).To(Succeed())
	_, found := b.stored("a")
	b.Expect(found).To(BeFalse(), "a process that has not read the record yet forgets it all the same")
}

func TestForgetDoesNotDeleteWhatAnotherProcessWrote(t *testing.T) {
	b := newBench(t)
	old := b.holding("a", x)
	lead := b.ledger("a")
	b.look(lead)
	b.flag(lead, targets{y}, nil)
	b.Expect(old.Forget(t.Context())).To(MatchError(ownership.ErrConflict))
	b.expectStored("a", 2, targets{x, y}, nil)
}

func TestWhatIsWrittenForPeople(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	flagged := b.now
	b.now = b.now.Add(time.Minute)
	b.flag(l, nil, targets{x})
	b.now = b.now.Add(time.Minute)
	b.flag(l, nil, targets{x}) // anew
	r, _ := b.stored("a")
	b.Expect(r.BindingUID).To(Equal("uid"))
	b.Expect(r.ControllerVersion).To(Equal("v1"))
	b.Expect(r.UpdatedAt).To(Equal(b.now))
	b.Expect(r.Releasing[x]).To(Equal(flagged.Add(time.Minute)), "since when it is leaving")
}

func TestTheModeOfARecord(t *testing.T) {
	b := newBench(t)
	l := b.holding("a", x)
	for i, exclusive := range []bool{true, false} {
		l.Mode(exclusive)
		b.Expect(l.ModeChanged()).To(BeTrue())
		b.flag(l, targets{[]ownership.Target{y, z}[i]}, nil)
		r, _ := b.stored("a")
		b.Expect(r.Exclusive).To(Equal(exclusive))
		b.Expect(l.ModeChanged()).To(BeFalse())
	}
}

func TestARecordWhoseBindingIsGoneKeepsTheUIDAndTheMode(t *testing.T) {
	b := newBench(t)
	east := b.holding("east", x)
	east.Mode(true)
	b.flag(east, targets{y}, nil)

	orphan := ownership.NewLedger(b.table, ownership.Identity{Group: arn, Owner: owner("east")},
		ownership.Env{Now: func() time.Time { return b.now }, NewID: b.newID})
	b.look(orphan)
	b.flag(orphan, nil, targets{x})

	stored, _ := b.stored("east")
	b.Expect(stored.BindingUID).To(Equal("uid"))
	b.Expect(stored.Exclusive).To(BeTrue())
}
