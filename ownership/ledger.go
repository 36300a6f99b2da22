package ownership

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Identity says whose record a ledger writes.
type Identity struct {
	Group             GroupARN
	Owner             Owner
	BindingUID        string // empty for a binding that is gone: the record keeps its own
	ControllerVersion string
}

// Env is what a ledger takes from the world: time and randomness are inputs.
type Env struct {
	// Now is the local clock. Its readings have to be monotonic, as those of
	// time.Now are.
	Now func() time.Time
	// NewID returns an ID that no other write of any process has.
	NewID func() string
}

// Ledger is one owner's view of its record in one group, and what it knows
// of its own calls to the group. It is the only writer of the record while
// its process leads; another writer is noticed at the next look or write and
// its record taken over.
//
// A ledger is for one goroutine at a time.
type Ledger struct {
	store Store
	id    Identity
	env   Env

	own       Record
	loaded    bool               // own is what the table holds, as far as we know
	written   time.Time          // start of our write that made own; zero if it was not ours
	inherited bool               // own has targets and is not our write
	pending   map[string]pending // writes whose fate is unknown, by write ID
	deleting  Revision           // the revision that a delete in doubt was for
	lost      map[Target]bool    // recorded by us once, gone with rows that the table lost

	facts     map[Target]*fact
	sightings map[Owner]sighting
	look      *Look
	looks     int
	listing   Set
	tally     Tally
	begun     time.Time // start of the pass
	used      bool      // the table served the pass
	exclusive *bool     // nil if unknown
}

type pending struct {
	record Record
	begun  time.Time
}

// sighting is the first time we saw another owner's record at a revision.
type sighting struct {
	revision Revision
	first    time.Time
}

// NewLedger returns a ledger that has not read its record yet.
func NewLedger(store Store, id Identity, env Env) *Ledger {
	return &Ledger{
		store: store, id: id, env: env,
		own:       Record{Group: id.Group, Owner: id.Owner}.Clone(),
		pending:   map[string]pending{},
		lost:      map[Target]bool{},
		begun:     env.Now(),
		facts:     map[Target]*fact{},
		sightings: map[Owner]sighting{},
	}
}

// Begin starts a pass: what an earlier pass looked at, listed or was refused
// no longer counts. The pass is as old as what it wants: at is from before
// that was read, on the ledger's clock.
func (l *Ledger) Begin(at time.Time) {
	l.begun, l.used, l.look, l.listing = at, false, nil, nil
	for _, f := range l.facts {
		f.failed = nil
	}
}

// Mode says whether the owner has the group for itself. Without it the record
// keeps what it says.
func (l *Ledger) Mode(exclusive bool) { l.exclusive = &exclusive }

// ModeChanged reports whether the record, if it names a target, has to be
// written to tell the mode.
func (l *Ledger) ModeChanged() bool {
	return l.exclusive != nil && *l.exclusive != l.own.Exclusive && !l.own.Empty()
}

// Loaded reports whether the record is known, so that a pass with nothing to
// do needs no call.
func (l *Ledger) Loaded() bool { return l.loaded }

// Finished reports whether nothing is left to be done about the record: it
// names no target, the table has lost none of ours, and no write is in doubt.
func (l *Ledger) Finished() bool {
	return l.own.Empty() && len(l.lost) == 0 && !l.Inherited()
}

// Used reports whether the table has served a call of the pass.
func (l *Ledger) Used() bool { return l.used }

// Record returns our record as last written or read.
func (l *Ledger) Record() Record { return l.own.Clone() }

// Current returns the last look, or nil if we have written since.
func (l *Ledger) Current() *Look { return l.look }

// UnreadableError says that our own record is there and cannot be
// understood, so that nothing may be written over it.
type UnreadableError struct{ Unreadable }

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("our record %s cannot be read: %s", e.Owner, e.Reason)
}

// Look reads all records of the group, ours included. Should ours differ
// from what we last knew, because of another process or a restored table, it
// is taken over as it is. Should it turn out to be a write of ours that was in
// doubt, another look is due.
//
// Errors are those of [Store.Records], and [UnreadableError] for our own
// record.
func (l *Ledger) Look(ctx context.Context) error {
	began := l.env.Now()
	read, err := l.store.Records(ctx, l.id.Group)
	if err != nil {
		return fmt.Errorf("read the records of target group %s: %w", l.id.Group.Name(), err)
	}
	ended := l.env.Now()
	l.used = true

	look := &Look{unreadable: read.Unreadable, stale: map[Owner]bool{}, began: began}
	for _, u := range read.Unreadable {
		if u.Owner == l.id.Owner.String() {
			l.loaded, l.look = false, nil
			return &UnreadableError{u}
		}
	}
	own := Record{Group: l.id.Group, Owner: l.id.Owner}
	sightings := make(map[Owner]sighting, len(read.Records))
	for _, r := range read.Records {
		if r.Owner == l.id.Owner {
			own = r
			continue
		}
		look.others = append(look.others, r)
		sightings[r.Owner] = l.sight(r, ended)
		// The reader counts from after the reading that first saw the
		// revision to before this one.
		look.stale[r.Owner] = began.Sub(sightings[r.Owner].first) >= Settle
	}
	l.sightings = sightings
	_, landed := l.pending[own.WriteID]
	l.takeOver(own)

	l.looks++
	look.own, look.written, look.seq = l.own, l.written, l.looks
	l.look = look
	l.count()
	if landed {
		l.look = nil // the others may have been read before the write landed
	}
	return nil
}

// Reread is a Look for a pass that is under way: should it find our record
// taken over, the pass has to end, since what it wants may be as old as the
// record that it knew. Errors are those of Look, and [ErrConflict] for that.
func (l *Ledger) Reread(ctx context.Context) error {
	known := l.loaded && !l.Inherited()
	if err := l.Look(ctx); err != nil {
		return err
	}
	if known && l.Inherited() {
		return fmt.Errorf("another process leads, or the table was restored: %w", ErrConflict)
	}
	return nil
}

func (l *Ledger) sight(r Record, now time.Time) sighting {
	if s, ok := l.sightings[r.Owner]; ok && s.revision == r.Revision {
		return s
	}
	return sighting{r.Revision, now}
}

// Inherited reports whether the record has to be written once before anything
// else, by [Ledger.Flag]: because another process left it, which by that
// write fails its next look or write, or because a write of ours is in doubt,
// which by that write can no longer land.
func (l *Ledger) Inherited() bool {
	return l.inherited || len(l.pending) > 0 || l.deleting != (Revision{})
}

// Flag writes claims into held and releases into releasing, in one write; a
// target that is in releasing already is flagged anew by that. It writes
// nothing if there is nothing to say. A look is due afterwards.
//
// Errors are those of [Store.Put]. After [ErrUnavailable] the fate of the
// write is unknown; the next look tells. After [ErrConflict] the stored
// record has been taken over, and the caller plans anew. [ErrLookExpired] is
// for a record to take over in a pass that began more than [CallBudget] ago:
// its process may have been frozen since, and what it wants be older than
// what its successor wrote.
func (l *Ledger) Flag(ctx context.Context, claims, releases []Target) error {
	if len(claims) == 0 && len(releases) == 0 && !l.Inherited() && !l.ModeChanged() {
		return nil
	}
	next, since := l.own.Clone(), l.env.Now()
	if l.Inherited() && Elapsed(l.begun, since) > CallBudget {
		return fmt.Errorf("take over the record: the pass began too long ago: %w", ErrLookExpired)
	}
	for _, t := range claims {
		delete(next.Releasing, t)
		next.Held[t] = since
	}
	for _, t := range releases {
		delete(next.Held, t)
		if _, again := next.Releasing[t]; !again {
			next.Releasing[t] = since
		}
	}
	if err := l.write(ctx, next); err != nil {
		return fmt.Errorf("flag %d claims and %d releases: %w", len(claims), len(releases), err)
	}
	return nil
}

// Drop takes finished releases out of the record. Errors are those of Flag.
func (l *Ledger) Drop(ctx context.Context, targets []Target) error {
	next := l.own.Clone()
	for _, t := range targets {
		delete(next.Releasing, t)
	}
	if err := l.write(ctx, next); err != nil {
		return fmt.Errorf("drop %d releases: %w", len(targets), err)
	}
	return nil
}

// Forget deletes the record, with whatever it still holds: the binding and
// its targets are gone, or the group is. To forget a record that is not
// there succeeds. A first write that is still in doubt may land afterwards,
// and leave a record that no binding stands for.
func (l *Ledger) Forget(ctx context.Context) error {
	if !l.loaded {
		if err := l.Look(ctx); err != nil {
			return err
		}
	}
	if l.own.Revision == (Revision{}) {
		return nil
	}
	err := l.store.Delete(ctx, l.own)
	if err == nil {
		l.forgotten()
		return nil
	}
	if errors.Is(err, ErrConflict) || !isRefusal(err) {
		// Perhaps it was applied and its reply lost. The table knows.
		l.deleting, l.loaded, l.look = l.own.Revision, false, nil
	}
	if errors.Is(err, ErrConflict) {
		if err := l.Look(ctx); err != nil {
			return err
		}
		if l.own.Revision == (Revision{}) {
			return nil
		}
	}
	return fmt.Errorf("delete the record: %w", err)
}

func (l *Ledger) forgotten() {
	l.become(Record{Group: l.id.Group, Owner: l.id.Owner}.Clone(), l.env.Now())
	l.lost, l.deleting = map[Target]bool{}, Revision{}
}
