package ownership

import (
	"context"
	"errors"
	"maps"
	"time"
)

// write puts next in place of our record and knows its own write again.
func (l *Ledger) write(ctx context.Context, next Record) error {
	begun := l.env.Now()
	next.Revision = Revision{Version: l.own.Version + 1, WriteID: l.env.NewID()}
	next.ControllerVersion, next.UpdatedAt = l.id.ControllerVersion, begun
	if l.id.BindingUID != "" {
		next.BindingUID = l.id.BindingUID
	}
	if l.exclusive != nil {
		next.Exclusive = *l.exclusive
	}

	err := l.store.Put(ctx, next, l.own.Revision)
	switch {
	case err == nil:
		l.used = true
		l.become(next, begun)
		return nil
	case errors.Is(err, ErrConflict):
		// Either another process wrote, or our own write was applied, its
		// reply lost, and a retry failed its condition. The table knows.
		l.pending[next.WriteID] = pending{next, begun}
		l.loaded = false
		if err := l.Look(ctx); err != nil {
			return err
		}
		if l.own.WriteID == next.WriteID {
			return nil
		}
		return err
	case isRefusal(err):
		return err
	default:
		l.pending[next.WriteID] = pending{next, begun}
		l.loaded, l.look = false, nil
		return err
	}
}

// isRefusal reports whether the write was certainly not applied.
func isRefusal(err error) bool {
	for _, class := range []error{ErrConflict, ErrThrottled, ErrForbidden, ErrTableMissing, ErrTableCreating, ErrTooLarge} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

// takeOver makes the stored record ours: as we know it, as a write of ours
// that was in doubt left it, or as somebody else did.
func (l *Ledger) takeOver(stored Record) {
	p, ours := l.pending[stored.WriteID]
	switch {
	case stored.Revision == l.own.Revision:
		l.loaded = true
		l.notSucceeded()
	case ours:
		l.become(p.record, p.begun)
	case stored.Revision == Revision{} && l.deleting == l.own.Revision:
		l.forgotten()
	default:
		l.rememberLost(stored)
		uid := l.own.BindingUID
		l.own, l.loaded = stored.Clone(), true
		if stored.Revision == (Revision{}) {
			l.own.BindingUID = uid // of the targets that are lost
		}
		l.inherit()
	}
}

// notSucceeded is after a reading that found our record as we left it: what
// had landed by then, however late, is in it.
func (l *Ledger) notSucceeded() {
	for _, f := range l.facts {
		f.astray = f.astray && f.returnBy.After(l.env.Now())
	}
}

// lacksOurs reports whether the stored record does not come after ours: its
// version went back, or it is of an earlier binding of our name. Rows were
// deleted by hand or restored from a backup.
func (l *Ledger) lacksOurs(stored Record) bool {
	return stored.Version <= l.own.Version || l.own.BindingUID != "" && stored.BindingUID != l.own.BindingUID
}

// rememberLost keeps what the stored record does not name and may be in the
// group all the same: what the table has forgotten, and what we may have
// registered when our successor was done with it.
func (l *Ledger) rememberLost(stored Record) {
	forgotten := l.lacksOurs(stored)
	for _, entries := range []map[Target]time.Time{l.own.Held, l.own.Releasing} {
		for t := range entries {
			if forgotten || l.facts[t] != nil && l.facts[t].astray {
				l.lost[t] = true
			}
		}
	}
	maps.DeleteFunc(l.lost, func(t Target, _ bool) bool { return recorded(stored, t) })
}

func recorded(r Record, t Target) bool {
	_, held := r.Held[t]
	_, releasing := r.Releasing[t]
	return held || releasing
}
