// Package plan decides what to do about the targets of one group: wanted
// targets, our record, the records of others and what is known of the group,
// to steps with reasons. It is pure: it calls nothing and reads no clock, and
// the same input gives the same plan.
//
// A plan is made anew after every stage. A pass that adds a target meets it
// three times: unrecorded, so it is claimed; held and not looked at, so the
// others are read; held and clear, so it is registered. One table of rules,
// [Decide], thereby covers claim, release, crash and repair alike.
package plan

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

// Action is what to do about one target.
type Action string

// The actions, in the order in which a pass carries them out.
const (
	Claim      Action = "claim"      // write it into held
	Release    Action = "release"    // write it into releasing, or flag it anew there
	Look       Action = "look"       // read the other owners' records
	Register   Action = "register"   // register it in the group
	Deregister Action = "deregister" // take it out of the group
	Drop       Action = "drop"       // take it out of our record
	Wait       Action = "wait"       // nothing now, look again later
	Keep       Action = "keep"       // it is as it should be
	Ignore     Action = "ignore"     // it is not ours to touch
)

// Reason says why, in words for logs and for people.
type Reason string

// The reasons.
const (
	Wanted           Reason = "the endpoint is live"
	WantedAgain      Reason = "the endpoint is live again"
	Unwanted         Reason = "the endpoint is gone"
	FlagExpired      Reason = "flagged too long ago for others to wait for us"
	RecordLost       Reason = "the table lost our record of it"
	NotOurs          Reason = "no record of ours names it"
	ExclusiveForeign Reason = "nobody recorded it and the binding is exclusive"
	ForeignHeld      Reason = "another owner recorded it in a group that is bound exclusively"
	NotLooked        Reason = "the other owners have not been read since we flagged it"
	Unconfirmed      Reason = "not confirmed to be registered"
	Confirmed        Reason = "registered"
	BlockedByOther   Reason = "another owner is releasing it"
	NobodyHolds      Reason = "no other owner holds it"
	HeldByOther      Reason = "another owner holds it"
	GiveBack         Reason = "another owner holds it and our late call may have taken it out"
	Settling         Reason = "an earlier call for it may still land"
	Deregistered     Reason = "deregistered"
	Unreadable       Reason = "a record of the group cannot be read"
	CallFailed       Reason = "the last call for it failed"
	RefusedLately    Reason = "the load balancer refused it and will be asked again"
	RefusedBefore    Reason = "the load balancer refused it before"
)

// Step is a decision about one target.
type Step struct {
	Target ownership.Target
	Action Action
	Reason Reason
	// Until is the time before which waiting cannot end; zero if unknown.
	Until time.Time
	// Err is the failure behind CallFailed and RefusedLately.
	Err error
}

func (s Step) is(a Action, reasons []Reason) bool {
	return s.Action == a && (len(reasons) == 0 || slices.Contains(reasons, s.Reason))
}

func (s Step) String() string {
	return fmt.Sprintf("%s %s: %s", s.Action, s.Target, s.Reason)
}

// Binding is what the owner wants of the group.
type Binding struct {
	Want ownership.Set
	// Exclusive bindings take out what nobody recorded.
	Exclusive bool
}

// Plan is the steps for all targets, ordered by target. Ignored targets have
// none.
type Plan struct{ Steps []Step }

// Make decides about every target of states.
func Make(b Binding, states iter.Seq[ownership.State]) Plan {
	p := Plan{Steps: make([]Step, 0, len(b.Want))}
	for s := range states {
		if step := Decide(b.Want[s.Target], b.Exclusive, s); step.Action != Ignore {
			p.Steps = append(p.Steps, step)
		}
	}
	slices.SortFunc(p.Steps, func(a, b Step) int { return strings.Compare(string(a.Target), string(b.Target)) })
	return p
}

// Targets returns the targets with the action and one of the reasons, or any
// reason if none is given, in order.
func (p Plan) Targets(a Action, reasons ...Reason) []ownership.Target {
	var targets []ownership.Target
	for _, s := range p.Steps {
		if s.is(a, reasons) {
			targets = append(targets, s.Target)
		}
	}
	return targets
}

// Has reports whether any step has one of the actions.
func (p Plan) Has(actions ...Action) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return slices.Contains(actions, s.Action) })
}

// Count returns how many steps have the action and one of the reasons, or
// any reason if none is given.
func (p Plan) Count(a Action, reasons ...Reason) int {
	n := 0
	for _, s := range p.Steps {
		if s.is(a, reasons) {
			n++
		}
	}
	return n
}

// Summary counts the steps by what and why, in one line however long the
// plan is.
func (p Plan) Summary() string {
	type kind struct {
		action Action
		reason Reason
	}
	counts, kinds := map[kind]int{}, []kind{}
	for _, s := range p.Steps {
		k := kind{s.Action, s.Reason}
		if counts[k]++; counts[k] == 1 {
			kinds = append(kinds, k)
		}
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = fmt.Sprintf("%s %d (%s)", k.action, counts[k], k.reason)
	}
	return strings.Join(parts, ", ")
}

// String lists the steps, one a line.
func (p Plan) String() string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintln(&b, s)
	}
	return b.String()
}
