package ownership

import (
	"errors"
	"time"
)

// Presence is what we know of a target being in the group.
type Presence int

// Unknown is the zero Presence: we have no confirmation either way.
const (
	Unknown Presence = iota
	Registered
	Gone
)

func (p Presence) String() string {
	return [...]string{"unknown", "registered", "gone"}[p]
}

// fact is what this process knows of one target in its record.
type fact struct {
	presence Presence
	claimed  bool      // held by our own claim and not registered since
	goneAt   time.Time // start of the deregistration that was confirmed
	late     bool      // a deregistration may have landed when nobody waited for it any more
	leaveBy  time.Time // a deregistration may still land until then
	returnBy time.Time // a registration may still land until then
	lookPast int       // only a look later than this one counts
	astray   bool      // a registration may have landed after our successor was done with it
	failed   error     // what the last call of this pass came to

	// The load balancer does not take the target: what it said last, how long
	// it is left alone for that, and until when.
	refusal error
	retryIn time.Duration
	retryAt time.Time
}

// A target that the load balancer refuses is tried again after firstRetry,
// and after twice as long each time up to lastRetry. One that stays bad would
// otherwise cost some calls in every pass, at the expense of all others.
const (
	firstRetry = 2 * time.Second
	lastRetry  = 30 * time.Second
)

func (f *fact) refused(err error, now time.Time) {
	f.failed = err
	if !errors.Is(err, ErrInvalidTarget) {
		return
	}
	f.retryIn = min(max(2*f.retryIn, firstRetry), lastRetry)
	f.refusal, f.retryAt = err, now.Add(f.retryIn)
}

func (f *fact) accepted() {
	f.failed, f.refusal, f.retryIn, f.retryAt = nil, nil, 0, time.Time{}
}

func (l *Ledger) fact(t Target) *fact {
	f, ok := l.facts[t]
	if !ok {
		f = &fact{}
		l.facts[t] = f
	}
	return f
}

// become takes our own write, started at begun, as done and carries the facts
// over to it.
func (l *Ledger) become(next Record, begun time.Time) {
	if l.inherited {
		l.settleInherited()
	}
	l.forgetFacts(next)
	for t := range next.Held {
		if _, already := l.own.Held[t]; !already {
			// Also for a target that we were releasing: until now nobody had
			// to respect us, and another owner may be taking it out.
			f := l.fact(t)
			f.presence, f.claimed, f.late, f.astray = Unknown, true, false, false
			f.accepted()
		}
		delete(l.lost, t)
	}
	for t := range next.Releasing {
		if _, already := l.own.Releasing[t]; !already {
			l.fact(t).accepted() // what was refused was to register it
		}
		delete(l.lost, t)
	}
	l.own, l.written, l.loaded, l.look = next, begun, true, nil
	l.inherited, l.pending, l.deleting = false, map[string]pending{}, Revision{}
}

// inherit starts the facts anew for a record that another process left: its
// registrations and deregistrations may be under way still, and until we
// write it may begin new ones.
func (l *Ledger) inherit() {
	until := l.env.Now().Add(Settle)
	l.forgetFacts(l.own)
	for t := range l.lost {
		f := l.fact(t)
		f.presence, f.leaveBy, f.returnBy = Unknown, until, until
	}
	for t := range l.own.Held {
		f := l.fact(t)
		f.presence, f.claimed, f.late, f.returnBy = Unknown, false, false, until
	}
	for t := range l.own.Releasing {
		f := l.fact(t)
		f.presence, f.claimed, f.late = Unknown, false, true
		f.leaveBy, f.returnBy = until, until
	}
	// Also with targets that the table lost: it may as well be our successor
	// who has finished with them and deleted the record.
	l.written, l.inherited = time.Time{}, !l.own.Empty() || len(l.lost) > 0
	l.pending, l.deleting = map[string]pending{}, Revision{}
}

func (l *Ledger) forgetFacts(own Record) {
	for t := range l.facts {
		if !recorded(own, t) && !l.lost[t] {
			delete(l.facts, t)
		}
	}
}

// settleInherited counts from our first write, which fenced off the process
// that left the record: no look of it allows a call any more.
func (l *Ledger) settleInherited() {
	until := l.env.Now().Add(Settle)
	for t := range l.own.Held {
		l.fact(t).returnBy = until
	}
	for t := range l.own.Releasing {
		f := l.fact(t)
		f.leaveBy, f.returnBy = until, until
	}
}

// late reports whether calls whose permission counts from then may have landed
// when others no longer waited: those that were confirmed now, and those that
// were given up now, which may take another CallBudget. Deadlines rule both
// out, but for a process that was frozen between the check of its deadline and
// the call.
func (l *Ledger) late(from time.Time) (confirmed, givenUp bool) {
	age := Elapsed(from, l.env.Now())
	return age > Settle, age > Settle-CallBudget
}

// Registered notes what became of a registration.
func (l *Ledger) Registered(r Result) {
	var done, unsure bool
	if l.look != nil {
		done, unsure = l.late(l.look.began)
	}
	for _, t := range r.Done {
		f := l.fact(t)
		f.presence, f.claimed, f.astray = Registered, false, f.astray || done
		f.accepted()
		// A target given back while we release it: only a later look says
		// whether its holder is still there.
		f.lookPast = l.looks
	}
	for t, err := range r.Refused {
		l.fact(t).refused(err, l.env.Now())
	}
	for t, err := range r.Unsure {
		f := l.fact(t)
		f.failed, f.returnBy, f.astray = err, l.env.Now().Add(Settle), f.astray || unsure
	}
	if done && len(r.Done) > 0 || unsure && len(r.Unsure) > 0 {
		// A process that was frozen: a successor may have waited for all that
		// could land, and taken the targets out of the group and the record.
		l.loaded, l.look = false, nil
	}
}

// Deregistered notes what became of a deregistration that was started at
// begun.
func (l *Ledger) Deregistered(r Result, begun time.Time) {
	done, unsure := l.late(l.written)
	for _, t := range r.Done {
		f := l.fact(t)
		f.presence, f.goneAt = Gone, begun
		f.accepted()
		delete(l.listing, t)
		if done {
			f.late, f.lookPast = true, l.looks
		}
	}
	for t, err := range r.Refused {
		l.fact(t).refused(err, l.env.Now())
	}
	for t, err := range r.Unsure {
		f := l.fact(t)
		f.failed, f.late, f.leaveBy = err, f.late || unsure, l.env.Now().Add(Settle)
	}
}

// Listed takes a listing of the group that was made after the current look:
// the targets that are in it and not draining. A held target that is missing
// is to be registered again. One that is listed and that nobody was releasing
// counts as registered, except for a claim of our own: that is registered
// whatever a listing says, since a listing may lag behind a deregistration. A
// target that the load balancer refuses to deregister and does not list is
// gone. It returns the missing ones that we had registered.
func (l *Ledger) Listed(listing Set) (missing []Target) {
	l.listing = listing
	for t := range l.own.Held {
		f := l.fact(t)
		switch {
		case !listing[t]:
			if f.presence == Registered {
				missing = append(missing, t)
			}
			f.presence = Unknown
		case !f.claimed && l.look != nil && !l.look.At(t).Release:
			f.presence = Registered
		}
	}
	for t := range l.own.Releasing {
		if f := l.fact(t); f.refusal != nil && !listing[t] && l.look != nil {
			f.presence, f.goneAt = Gone, l.look.began
		}
	}
	l.count()
	return missing
}
