package ownership

import "time"

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
	goneAt   time.Time // start of the deregistration that was confirmed
	flagged  time.Time // start of the write that put it into releasing
	touched  bool      // a deregistration may have been sent since then
	leaveBy  time.Time // a deregistration may still land until then
	returnBy time.Time // a registration may still land until then
	lookPast int       // only a look later than this one counts
	failed   error     // what the last call of this pass came to
}

func (l *Ledger) fact(t Target) *fact {
	f, ok := l.facts[t]
	if !ok {
		f = &fact{}
		l.facts[t] = f
	}
	return f
}

// become takes our own write as done and carries the facts over to it.
func (l *Ledger) become(next Record, begun time.Time) {
	for t := range l.facts {
		if !recorded(next, t) {
			delete(l.facts, t)
		}
	}
	for t := range next.Held {
		f := l.fact(t)
		if _, back := l.own.Releasing[t]; back && f.touched {
			f.presence = Unknown
		}
		f.touched = false
		delete(l.lost, t)
	}
	for t := range next.Releasing {
		f := l.fact(t)
		if _, already := l.own.Releasing[t]; !already {
			f.flagged = begun
		}
		delete(l.lost, t)
	}
	l.own, l.loaded, l.look = next, true, nil
	l.pending, l.deleting = map[string]pending{}, Revision{}
	if l.inherited {
		l.inherited = false
		l.settleInherited()
	}
}

// inherit starts the facts anew for a record that another process left: its
// registrations and deregistrations may be under way still.
func (l *Ledger) inherit() {
	until := l.env.Now().Add(Settle)
	for t := range l.facts {
		if !recorded(l.own, t) {
			delete(l.facts, t)
		}
	}
	for t := range l.own.Held {
		f := l.fact(t)
		f.presence, f.touched, f.returnBy = Unknown, false, until
	}
	for t := range l.own.Releasing {
		f := l.fact(t)
		// The zero flagged time makes the release a late one.
		f.presence, f.touched, f.flagged = Unknown, true, time.Time{}
		f.leaveBy, f.returnBy = until, until
	}
	l.inherited = len(l.own.Releasing) > 0
	l.pending, l.deleting = map[string]pending{}, Revision{}
}

// settleInherited counts from our own flag, which fenced off the process that
// began the releases.
func (l *Ledger) settleInherited() {
	until := l.env.Now().Add(Settle)
	for t := range l.own.Releasing {
		if f := l.fact(t); f.flagged.IsZero() {
			f.leaveBy, f.returnBy = until, until
		}
	}
}

// Registered notes what became of a registration.
func (l *Ledger) Registered(r Result) {
	for _, t := range r.Done {
		f := l.fact(t)
		f.presence, f.failed = Registered, nil
		// A target given back while we release it: only a later look says
		// whether its holder is still there.
		f.lookPast = l.looks
	}
	for t, err := range r.Refused {
		l.fact(t).failed = err
	}
	for t, err := range r.Unsure {
		f := l.fact(t)
		f.failed, f.returnBy = err, l.env.Now().Add(Settle)
	}
}

// Deregistered notes what became of a deregistration that was started at
// begun.
func (l *Ledger) Deregistered(r Result, begun time.Time) {
	for _, t := range r.Done {
		f := l.fact(t)
		f.presence, f.goneAt, f.touched, f.failed = Gone, begun, true, nil
		delete(l.listing, t)
		if l.env.Now().Sub(f.flagged) > Settle {
			f.lookPast = l.looks // somebody may have stopped waiting for us
		}
	}
	for t, err := range r.Refused {
		l.fact(t).failed = err
	}
	for t, err := range r.Unsure {
		f := l.fact(t)
		f.failed, f.touched, f.leaveBy = err, true, l.env.Now().Add(Settle)
	}
}

// Listed takes a listing of the group that was made after the current look:
// the targets that are in it and not draining. A held target counts as
// registered if it is listed and nobody was releasing it before; one that is
// missing is to be registered again. It returns the missing ones that we had
// registered.
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
		case l.look != nil && !l.look.At(t).Release:
			f.presence = Registered
		}
	}
	l.count()
	return missing
}
