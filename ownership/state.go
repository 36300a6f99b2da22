package ownership

import (
	"iter"
	"slices"
	"time"
)

// Entry is where our record has a target.
type Entry int

// Unrecorded is the zero Entry.
const (
	Unrecorded Entry = iota
	Held
	Releasing
)

func (e Entry) String() string {
	return [...]string{"unrecorded", "held", "releasing"}[e]
}

// State is all that a decision about one target depends on, but for whether
// it is wanted.
type State struct {
	Target   Target
	Entry    Entry
	Presence Presence
	Listed   bool // the group's listing of this pass has it
	Lost     bool // we recorded it once, and the table lost the record

	Looked bool // Others is from a look that followed our flag
	Others Others

	Expired   bool      // releasing, flagged too long ago for a deregistration to start
	Late      bool      // releasing, and a deregistration may have landed when nobody waited any more
	LeaveBy   time.Time // a deregistration may land until then; zero if none can
	ReturnBy  time.Time // a registration may land until then; zero if none can
	FailedNow error     // a call of this pass for it failed
	Refused   error     // the load balancer did not take it when it was last asked
	RetryAt   time.Time // when to ask again; zero if that is over
}

// State returns the state of one target at this moment.
func (l *Ledger) State(t Target) State {
	s := State{Target: t, Entry: l.entry(t), Listed: l.listing[t], Lost: l.lost[t]}
	if l.look != nil {
		s.Looked, s.Others = true, l.look.At(t)
	}
	if f, ok := l.facts[t]; ok {
		now := l.env.Now()
		s.Late, s.FailedNow = f.late, f.failed
		s.Looked = s.Looked && (s.Entry != Releasing || l.look.follows(f, now))
		s.LeaveBy, s.ReturnBy = ahead(f.leaveBy, now), ahead(f.returnBy, now)
		s.Refused, s.RetryAt = f.refusal, ahead(f.retryAt, now)
		s.Presence = f.presence
		if f.presence == Gone && s.ReturnBy.IsZero() && f.goneAt.Before(f.returnBy) {
			s.Presence = Unknown // a late registration may have undone it
		}
	}
	if s.Entry == Releasing {
		s.Expired = Elapsed(l.written, l.env.Now()) > CallBudget
	}
	return s
}

// follows reports whether the look came after all that our calls did to the
// target. Who held it before a late registration of ours landed may have let
// go of it, and taken it out, since. What may land still is waited for.
func (l *Look) follows(f *fact, now time.Time) bool {
	for _, settled := range []time.Time{f.leaveBy, f.returnBy} {
		if settled.After(l.began) && !settled.After(now) {
			return false
		}
	}
	return l.seq > f.lookPast
}

// States visits the state of every target that is wanted, recorded, listed or
// lost, each once, in no order.
func (l *Ledger) States(want Set) iter.Seq[State] {
	return func(yield func(State) bool) {
		for t := range want {
			if l.entry(t) == Unrecorded && !yield(l.State(t)) {
				return
			}
		}
		for t := range l.own.Held {
			if !yield(l.State(t)) {
				return
			}
		}
		for t := range l.own.Releasing {
			if !yield(l.State(t)) {
				return
			}
		}
		for t := range l.lost {
			if l.entry(t) == Unrecorded && !want[t] && !yield(l.State(t)) {
				return
			}
		}
		for t := range l.listing {
			if l.entry(t) == Unrecorded && !l.lost[t] && !want[t] && !yield(l.State(t)) {
				return
			}
		}
	}
}

func (l *Ledger) entry(t Target) Entry {
	if _, ok := l.own.Held[t]; ok {
		return Held
	}
	if _, ok := l.own.Releasing[t]; ok {
		return Releasing
	}
	return Unrecorded
}

func ahead(t, now time.Time) time.Time {
	if t.After(now) {
		return t
	}
	return time.Time{}
}

// Holds reports whether our record, as we know it, holds the target.
func (l *Ledger) Holds(t Target) bool { return l.entry(t) == Held }

// Unwanted returns how many targets we hold, and how many of them want lacks.
// Those that the table lost count as held.
func (l *Ledger) Unwanted(want Set) (held, unwanted int) {
	count := func(t Target) {
		held++
		if !want[t] {
			unwanted++
		}
	}
	for t := range l.own.Held {
		count(t)
	}
	for t := range l.lost {
		count(t)
	}
	return held, unwanted
}

// Foreign returns how many listed targets are in no record of ours and not in
// want.
func (l *Ledger) Foreign(want Set) int {
	n := 0
	for t := range l.listing {
		if !want[t] && l.entry(t) == Unrecorded {
			n++
		}
	}
	return n
}

// Tally is what the last look and listing say of the group as a whole.
type Tally struct {
	Shared     int          // targets that we and another owner hold
	External   int          // listed targets that no record names
	Owners     []Owner      // the other owners that have targets in the group
	Unreadable []Unreadable // the records that cannot be understood
}

// Tally returns the counts as of the last look and listing.
func (l *Ledger) Tally() Tally { return l.tally }

// count needs a look; without a listing in this pass it leaves the external
// targets as last counted.
func (l *Ledger) count() {
	if l.look == nil {
		return
	}
	tally := Tally{External: l.tally.External, Unreadable: l.look.unreadable}
	for t := range l.own.Held {
		if l.look.At(t).Hold {
			tally.Shared++
		}
	}
	for i := range l.look.others {
		if r := &l.look.others[i]; !r.Empty() {
			tally.Owners = append(tally.Owners, r.Owner)
		}
	}
	slices.SortFunc(tally.Owners, compareOwners)
	if l.listing != nil {
		tally.External = 0
		for t := range l.listing {
			if l.entry(t) == Unrecorded && !l.look.recorded(t) {
				tally.External++
			}
		}
	}
	l.tally = tally
}
