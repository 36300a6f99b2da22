// Package history is the account of what was done to target groups, and why.
// It explains and never decides: nothing reads it but people, and a pass goes
// on without it.
package history

import (
	"context"
	"iter"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// What is what happened to targets.
type What string

// What can happen, in the order of a pass.
const (
	// Missing: a comparison found them gone from the group, taken out by
	// somebody who does not read the table.
	Missing What = "missing"
	// Claimed: written into held, before they are registered.
	Claimed What = "claimed"
	// Releasing: written into releasing, before they are taken out.
	Releasing What = "releasing"
	// Registered: the load balancer confirmed that they are in the group.
	Registered What = "registered"
	// Deregistered: the load balancer confirmed that they are leaving it.
	Deregistered What = "deregistered"
	// Kept: released from the record and left in the group, since others hold
	// them.
	Kept What = "kept"
	// Released: out of the record, after they were taken out of the group.
	Released What = "released"
	// GaveUp: the record was deleted with them in it: they are nobody's now.
	GaveUp What = "gaveUp"
	// Blocked: not registered yet, or not taken out yet, because of others.
	Blocked What = "blocked"
	// Refused: the load balancer does not take them, or the record has no room.
	Refused What = "refused"
)

// Kinds are all kinds of events, in the order of a pass.
var Kinds = []What{Missing, Claimed, Releasing, Registered, Deregistered, Kept, Released, GaveUp, Blocked, Refused}

// Event is one thing that happened to some targets, for one reason.
type Event struct {
	What    What               `json:"what"`
	Reason  string             `json:"reason"`
	Targets []ownership.Target `json:"targets"`
	// More is how many further targets there are that the entry has no room for:
	// of one that was not split.
	More int `json:"more,omitempty"`
	// Others are the owners because of whom it happened. No more than
	// [MaxOthers] are named.
	Others []string `json:"others,omitempty"`
}

// Entry is what one pass of one owner did, or refused to do, in one group.
// Passes that did nothing have none.
type Entry struct {
	Group ownership.GroupARN `json:"targetGroup"`
	Time  time.Time          `json:"time"` // by the clock of the writer
	// ID tells entries of the same time apart.
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	Binding string `json:"binding"` // namespace/name
	// By is the program that did it, with its version: the controller, or
	// targetctl on behalf of a cluster that is gone.
	By      string    `json:"by"`
	Events  []Event   `json:"events"`
	Expires time.Time `json:"expires,omitzero"` // when the table may remove it
}

// NewEntry is the account of a pass over a record, by that program.
func NewEntry(of ownership.Key, by string, at time.Time, id string, events []Event) Entry {
	return Entry{
		Group: of.Group, Time: at, ID: id, By: by, Events: Merge(events),
		Cluster: of.Owner.Cluster, Binding: of.Owner.Namespace + "/" + of.Owner.Name,
	}
}

// Concerns reports whether the entry is about the target. One that has no room
// for all its targets may be.
func (e Entry) Concerns(t ownership.Target) bool {
	return slices.ContainsFunc(e.Events, func(event Event) bool {
		return event.More > 0 || slices.Contains(event.Targets, t)
	})
}

// Query selects entries.
type Query struct {
	Group ownership.GroupARN
	// Since leaves out what is older; the zero Time leaves out nothing.
	Since time.Time
	// Target leaves out what is not about it, as [Entry.Concerns] says; empty
	// for all targets.
	Target ownership.Target
	// Limit is how many entries are returned at most; 0 for all.
	Limit int
}

// Reader reads the history of a group.
type Reader interface {
	// History returns the entries from the newest to the oldest, and reads no
	// further than they are asked for. An error, of a class of package
	// ownership, ends them. Entries are as they are stored: what cannot be
	// understood of one is left empty.
	History(context.Context, Query) iter.Seq2[Entry, error]
}

// Store keeps history.
type Store interface {
	Reader
	// Record adds an entry. To add one again that is there already, with the
	// same time and ID, changes nothing. Errors are of a class of package
	// ownership.
	Record(context.Context, Entry) error
}
