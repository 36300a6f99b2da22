package history

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"target-ownership-controller/ownership"
)

// The limits of an entry. With the longest names that owners and targets can
// have, an item of the table stays below 64 KB with them.
const (
	MaxEvents  = 16
	MaxTargets = 300 // of all events together
	MaxOthers  = 3   // of one event
	maxReason  = 400 // bytes
)

// Split returns the entry as one or more that [Entry.Bound] leaves no target
// and no event out of. They are of the same time, and from the second on their
// ID has a number behind it.
func (e Entry) Split() []Entry {
	var parts []Entry
	for i, events := range portions(e.Events) {
		part := e
		part.Events = events
		if i > 0 {
			part.ID = fmt.Sprintf("%s-%02d", e.ID, i+1)
		}
		parts = append(parts, part.Bound())
	}
	return parts
}

// portions are the events in order, in portions that fit into an entry. One
// that names too many targets goes on in the next portion.
func portions(events []Event) [][]Event {
	all, last, room := [][]Event{nil}, 0, MaxTargets
	for _, event := range events {
		for rest := (Event{}); ; event = rest {
			if len(all[last]) == MaxEvents || room == 0 && len(event.Targets) > 0 {
				all, last, room = append(all, nil), last+1, MaxTargets
			}
			event, rest = event.divide(room)
			all[last] = append(all[last], event)
			room -= len(event.Targets)
			if len(rest.Targets) == 0 {
				break
			}
		}
	}
	return all
}

// divide returns the event with its first n targets, and with the others. The
// first does not keep the others in memory.
func (e Event) divide(n int) (first, rest Event) {
	if len(e.Targets) <= n {
		return e, Event{}
	}
	first, rest = e, e
	first.Targets, first.More = slices.Clone(e.Targets[:n]), 0
	rest.Targets = slices.Clone(e.Targets[n:])
	return first, rest
}

// Bound cuts what an entry has no room for, and says of the targets how many
// they are. Events beyond the limit are left out, the last first.
func (e Entry) Bound() Entry {
	events := slices.Clone(e.Events[:min(len(e.Events), MaxEvents)])
	room := MaxTargets
	for i := range events {
		event := &events[i]
		kept := min(len(event.Targets), room)
		event.More += len(event.Targets) - kept
		event.Targets = event.Targets[:kept]
		room -= kept
		event.Others = event.Others[:min(len(event.Others), MaxOthers)]
		event.Reason = cut(event.Reason)
	}
	e.Events = events
	return e
}

func cut(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	end := maxReason - len("…")
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end] + "…"
}

// Merge returns the events with those of the same kind, reason and others made
// one, in the order of a pass. Their targets are in order, each once.
func Merge(events []Event) []Event {
	var merged []Event
	for _, event := range events {
		same := slices.IndexFunc(merged, func(m Event) bool {
			return m.What == event.What && m.Reason == event.Reason && slices.Equal(m.Others, event.Others)
		})
		if same < 0 {
			event.Targets = slices.Clone(event.Targets)
			merged = append(merged, event)
			continue
		}
		merged[same].Targets = append(merged[same].Targets, event.Targets...)
		merged[same].More += event.More
	}
	for i := range merged {
		merged[i].Targets = inOrder(merged[i].Targets)
	}
	slices.SortStableFunc(merged, func(a, b Event) int {
		return slices.Index(Kinds, a.What) - slices.Index(Kinds, b.What)
	})
	return merged
}

func inOrder(targets []ownership.Target) []ownership.Target {
	slices.Sort(targets)
	return slices.Compact(targets)
}
