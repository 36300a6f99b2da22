package binding

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// Journal takes the account of each pass that did or refused something. It
// keeps no pass waiting.
type Journal interface{ Add(history.Entry) }

// maxLogged is how many targets a line of the log names.
const maxLogged = 10

// account tells what was done about a record: the log has a line for each
// decision, and the history an entry for all of them.
func (r *Reconciler) account(ctx context.Context, of ownership.Record, events []history.Event) {
	if len(events) == 0 {
		return
	}
	key := ownership.Key{Group: of.Group, Owner: of.Owner}
	entry := history.NewEntry(key, "controller "+r.Version, r.Clock.Now(), r.NewID(), events)
	logger := log.FromContext(ctx).WithValues("targetGroup", of.Group, "owner", of.Owner.String())
	for _, e := range entry.Events {
		logger.Info("targets "+string(e.What), "reason", e.Reason, "count", len(e.Targets),
			"targets", e.Targets[:min(len(e.Targets), maxLogged)], "others", e.Others)
	}
	if r.Journal != nil {
		r.Journal.Add(entry)
	}
}

// tellPass accounts for a pass over a binding. One that ended early has a last
// plan that was not carried out, so that what stood before it still stands.
func (r *Reconciler) tellPass(ctx context.Context, b *round, err error) {
	events := b.report.Events
	if len(b.missing) > 0 {
		events = append(events, history.Event{What: history.Missing, Reason: takenOut, Targets: b.missing})
	}
	if err == nil {
		events = append(events, b.state.begun(b.report.Standing)...)
	}
	r.account(ctx, b.state.ledger.Record(), events)
}

const takenOut = "somebody who does not read the table took it out of the group"

// standing is one target that waits for others or was refused.
type standing struct {
	what           history.What
	reason, others string
	target         ownership.Target
}

// begun returns those of the standing events that the pass before did not
// have, so that a block is told once and not at each look.
func (st *state) begun(events []history.Event) []history.Event {
	now := make(map[standing]bool, len(events))
	var begun []history.Event
	for _, e := range events {
		for _, t := range e.Targets {
			s := standing{e.What, e.Reason, strings.Join(e.Others, " "), t}
			now[s] = true
			if !st.standing[s] {
				one := e
				one.Targets = []ownership.Target{t}
				begun = append(begun, one)
			}
		}
	}
	st.standing = now
	return begun
}

// The reasons for giving a record up with targets in it.
const (
	retainedTargets = "the binding is gone, and its deletion policy keeps its targets in the group"
	missingGroup    = "the target group does not exist"
)

// gaveUp tells that a record was deleted with its targets in it.
func (r *Reconciler) gaveUp(ctx context.Context, record ownership.Record, reason string) {
	targets := slices.AppendSeq(slices.Collect(maps.Keys(record.Held)), maps.Keys(record.Releasing))
	if len(targets) > 0 {
		r.account(ctx, record, []history.Event{{What: history.GaveUp, Reason: reason, Targets: targets}})
	}
}
