package ownership

import (
	"slices"
	"strings"
	"time"
)

const (
	// Settle is the protocol's D: a call to the load balancer that a look at
	// local time t allowed has landed by t + Settle, or never will.
	Settle = 60 * time.Second

	// CallBudget bounds a mutation twice: it is not started once CallBudget
	// has passed since the look that allowed it (a deregistration: since the
	// write that the look followed, because others count from there), and it
	// is given up, retries included, CallBudget after its start. Both together
	// leave a third of Settle for what is still under way to the load balancer.
	CallBudget = 20 * time.Second
)

// Look is one complete reading of a group's records by an owner that had
// flagged beforehand what it wants to do. It alone hands out permission to
// touch the group. It is good for one revision of the owner's record.
type Look struct {
	own        Record
	others     []Record
	unreadable []Unreadable
	stale      map[Owner]bool // releasing, but unchanged for Settle
	began      time.Time
	written    time.Time // start of the write that made own; zero if it was not ours
	seq        int
}

// Others says what the other owners of a group do with one target.
type Others struct {
	Hold       bool // somebody holds it
	Release    bool // somebody is taking it out right now
	Unreadable bool // a record of the group cannot be read, so nobody knows
}

// At returns what others do with the target. A releasing entry of a record
// that has stayed unchanged for [Settle] counts no longer: its calls have
// landed or never will.
func (l *Look) At(t Target) Others {
	o := Others{Unreadable: len(l.unreadable) > 0}
	for i := range l.others {
		r := &l.others[i]
		if _, ok := r.Held[t]; ok {
			o.Hold = true
		}
		if _, ok := r.Releasing[t]; ok && !l.stale[r.Owner] {
			o.Release = true
		}
	}
	return o
}

// Owners returns the other owners that hold the target, and those that are
// taking it out right now, by the rule of [Look.At]. It is for people, who want
// to know whom to ask.
func (l *Look) Owners(t Target) (holding, releasing []Owner) {
	for i := range l.others {
		r := &l.others[i]
		if _, ok := r.Held[t]; ok {
			holding = append(holding, r.Owner)
		}
		if _, ok := r.Releasing[t]; ok && !l.stale[r.Owner] {
			releasing = append(releasing, r.Owner)
		}
	}
	slices.SortFunc(holding, compareOwners)
	slices.SortFunc(releasing, compareOwners)
	return holding, releasing
}

// HeldByOthers returns the targets that other owners hold, and whether these
// are all: a record that cannot be read may hold more.
func (l *Look) HeldByOthers() (held Set, all bool) {
	held = Set{}
	for i := range l.others {
		for t := range l.others[i].Held {
			held[t] = true
		}
	}
	return held, len(l.unreadable) == 0
}

// HeldBy returns the targets that one of the other owners holds: none if it has
// no record that can be read.
func (l *Look) HeldBy(o Owner) Set {
	held := Set{}
	for i := range l.others {
		if r := &l.others[i]; r.Owner == o {
			for t := range r.Held {
				held[t] = true
			}
		}
	}
	return held
}

func compareOwners(a, b Owner) int { return strings.Compare(a.String(), b.String()) }

func (l *Look) recorded(t Target) bool {
	return slices.ContainsFunc(l.others, func(r Record) bool { return recorded(r, t) })
}

// permit is a set of targets that may be touched until a deadline.
type permit struct {
	group   GroupARN
	targets []Target
	from    time.Time
}

// Group returns the target group.
func (p permit) Group() GroupARN { return p.group }

// Targets returns the targets, in order.
func (p permit) Targets() []Target { return p.targets }

// Left is for how long calls may still be started under the permit: not at
// all if it is negative.
func (p permit) Left(now time.Time) time.Duration { return CallBudget - Elapsed(p.from, now) }

// Elapsed is the time between two readings of the local clock, by that of its
// hands which went further: the monotonic one stands still while a machine
// sleeps, and the other one can be set. What must be over in time goes by it.
func Elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// Admission allows its targets to be registered.
type Admission struct{ permit }

// Removal allows its targets to be deregistered. Nothing but a look makes
// one, and nothing deregisters without one.
type Removal struct{ permit }

// Admit allows those of the targets to be registered that we hold and nobody
// is releasing, or that we are releasing while somebody else holds them: the
// latter gives back what our own late call may have taken.
func (l *Look) Admit(targets []Target) Admission {
	return Admission{l.permit(targets, l.began, func(t Target) bool {
		others := l.At(t)
		if _, held := l.own.Held[t]; held {
			return !others.Release
		}
		_, releasing := l.own.Releasing[t]
		return releasing && others.Hold
	})}
}

// Remove allows those of the targets to be deregistered that we are
// releasing, that no other owner holds, in a group whose records could all
// be read. The removal has expired already if our record is not a recent
// write of ours: others stop waiting for it [Settle] after they first saw it.
func (l *Look) Remove(targets []Target) Removal {
	return Removal{l.permit(targets, l.written, func(t Target) bool {
		_, releasing := l.own.Releasing[t]
		others := l.At(t)
		return releasing && !others.Hold && !others.Unreadable
	})}
}

func (l *Look) permit(targets []Target, from time.Time, allow func(Target) bool) permit {
	p := permit{group: l.own.Group, from: from}
	for _, t := range targets {
		if allow(t) {
			p.targets = append(p.targets, t)
		}
	}
	slices.Sort(p.targets)
	return p
}
