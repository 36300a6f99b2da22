package admin

import (
	"context"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// Explanation is what holds a target in a group, or takes it out.
type Explanation struct {
	TargetGroup ownership.GroupARN `json:"targetGroup"`
	Target      ownership.Target   `json:"target"`
	Health      string             `json:"health"`
	Entries     []Entry            `json:"entries"`
	// Leaving: it is in no record any more, and the load balancer ends its
	// connections.
	Leaving bool `json:"leaving,omitempty"`
	// Unrecorded is what bindings do about a target that no record names.
	Unrecorded []Verdict    `json:"unrecorded,omitempty"`
	Unreadable []Unreadable `json:"unreadable,omitempty"`
}

// Entry is one owner's entry for the target.
type Entry struct {
	Owner       string                 `json:"owner"`
	Entry       string                 `json:"entry"` // held or releasing
	Since       time.Time              `json:"since"` // by the cluster's own clock
	State       ownership.ClusterState `json:"clusterState,omitempty"`
	HeartbeatAt *time.Time             `json:"heartbeatAt,omitempty"`
	Verdicts    []Verdict              `json:"verdicts"`
}

// Verdict is what the protocol does, in its own words.
type Verdict struct {
	If     string      `json:"if"`
	Action plan.Action `json:"action"`
	Reason plan.Reason `json:"reason"`
}

// Explain tells who has the target in the group, and what the protocol would
// do about it: it asks the protocol's own rules, for each owner as that owner
// would see the others right after a look. Errors are those of the table and
// of the lister.
func Explain(ctx context.Context, table Table, lister Lister, group ownership.GroupARN, t ownership.Target) (Explanation, error) {
	seen, err := readGroup(ctx, table, lister, group)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{
		TargetGroup: group, Target: t, Health: seen.health.of(t),
		Entries: []Entry{}, Unreadable: unreadable(seen.Unreadable),
	}
	for _, r := range seen.Records.Records {
		if entry, has := seen.entry(r, t); has {
			e.Entries = append(e.Entries, entry)
		}
	}
	slices.SortFunc(e.Entries, func(a, b Entry) int { return strings.Compare(a.Owner, b.Owner) })
	switch {
	case len(e.Entries) > 0:
	case e.Health == draining:
		e.Leaving = true
	default:
		e.Unrecorded = seen.unrecorded(t)
	}
	return e, nil
}

func (s sight) entry(r ownership.Record, t ownership.Target) (Entry, bool) {
	e := Entry{Owner: r.Owner.String()}
	if c, known := s.clusters[r.Owner.Cluster]; known {
		e.State, e.HeartbeatAt = c.State, &c.HeartbeatAt
	}
	others := s.others(r.Owner, t)
	if since, held := r.Held[t]; held {
		e.Entry, e.Since = ownership.Held.String(), since
		e.Verdicts = []Verdict{
			decide("it still wants the target", true, false, s.state(t, ownership.Held, others)),
			decide("it lets the target go", false, false, s.state(t, ownership.Releasing, others)),
		}
		return e, true
	}
	since, releasing := r.Releasing[t]
	e.Entry, e.Since = ownership.Releasing.String(), since
	e.Verdicts = []Verdict{decide("its controller runs", false, false, s.state(t, ownership.Releasing, others))}
	return e, releasing
}

// unrecorded is for a target that nobody recorded.
func (s sight) unrecorded(t ownership.Target) []Verdict {
	state := s.state(t, ownership.Unrecorded, s.others(ownership.Owner{}, t))
	return []Verdict{
		decide("a binding shares the group", false, false, state),
		decide("a binding has the group for itself", false, true, state),
	}
}

// state is what an owner knows that has just looked, and of whose calls none
// is under way.
func (s sight) state(t ownership.Target, entry ownership.Entry, others ownership.Others) ownership.State {
	state := ownership.State{Target: t, Entry: entry, Looked: true, Others: others}
	if health, listed := s.health[t]; listed && health != draining {
		state.Listed, state.Presence = true, ownership.Registered
	}
	return state
}

func (s sight) others(self ownership.Owner, t ownership.Target) ownership.Others {
	o := ownership.Others{Unreadable: len(s.Unreadable) > 0}
	for _, r := range s.Records.Records {
		if r.Owner == self {
			continue
		}
		_, held := r.Held[t]
		_, releasing := r.Releasing[t]
		o.Hold, o.Release = o.Hold || held, o.Release || releasing
	}
	return o
}

func decide(condition string, want, exclusive bool, state ownership.State) Verdict {
	step := plan.Decide(want, exclusive, state)
	return Verdict{If: condition, Action: step.Action, Reason: step.Reason}
}
