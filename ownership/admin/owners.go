package admin

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

// Health is the state of each target that the load balancer lists, in its
// words: healthy, unhealthy, initial, draining, unused or unavailable.
type Health map[ownership.Target]string

// Lister lists the targets of a group.
type Lister interface {
	Health(context.Context, ownership.GroupARN) (Health, error)
}

const (
	healthy  = "healthy"
	initial  = "initial"
	draining = "draining"
	// NotRegistered is the health of a target that a record names and the
	// load balancer does not list.
	NotRegistered = "not registered"
	// Unknown is the health of a target of a group that could not be listed.
	Unknown = "unknown"
)

func (h Health) of(t ownership.Target) string {
	if h == nil {
		return Unknown
	}
	if state, listed := h[t]; listed {
		return state
	}
	return NotRegistered
}

// Target is a target as its owner's record has it. An external one is in no
// record, and has no entry.
type Target struct {
	Target ownership.Target `json:"target"`
	Entry  string           `json:"entry,omitempty"` // held or releasing
	Since  *time.Time       `json:"since,omitempty"`
	Health string           `json:"health"`
	// Shared: other owners hold it too, so that it stays until the last of
	// them lets go.
	Shared bool `json:"shared,omitempty"`
	// Blocked: it is held, and waits until another owner that takes it out is
	// done.
	Blocked bool `json:"blocked,omitempty"`
	// Leaving: it is in no record any more, and the load balancer ends its
	// connections.
	Leaving bool `json:"leaving,omitempty"`
}

// Owner is an owner of targets in a group.
type Owner struct {
	Owner       string                 `json:"owner"`
	State       ownership.ClusterState `json:"clusterState,omitempty"` // empty without an entry in the registry
	HeartbeatAt *time.Time             `json:"heartbeatAt,omitempty"`
	Exclusive   bool                   `json:"exclusive,omitempty"` // it means to have the group for itself
	Held        int                    `json:"held"`
	Releasing   int                    `json:"releasing"`
	Healthy     int                    `json:"healthy"` // of those that it holds
	Targets     []Target               `json:"targets"`
}

// Owners is who owns what in a group.
type Owners struct {
	TargetGroup ownership.GroupARN `json:"targetGroup"`
	Owners      []Owner            `json:"owners"`
	External    []Target           `json:"external"`
	Unreadable  []Unreadable       `json:"unreadable,omitempty"`
}

// ListOwners reads the records of the group and the health of its targets.
// Errors are those of the table and of the lister.
func ListOwners(ctx context.Context, table Table, lister Lister, group ownership.GroupARN) (Owners, error) {
	seen, err := readGroup(ctx, table, lister, group)
	if err != nil {
		return Owners{}, err
	}
	return seen.owners(), nil
}

// sight is what the table and the load balancer say of one group.
type sight struct {
	groupRecords
	health   Health
	clusters map[string]Cluster
}

// readGroup lists the group before it reads the records. A target is in a
// record before it is registered, so that one that is new is not taken for
// external.
func readGroup(ctx context.Context, table Table, lister Lister, group ownership.GroupARN) (sight, error) {
	health, err := lister.Health(ctx, group)
	if err != nil {
		return sight{}, err
	}
	records, err := table.Records(ctx, group)
	if err != nil {
		return sight{}, err
	}
	registry, err := readClusters(ctx, table)
	if err != nil {
		return sight{}, err
	}
	return sight{groupRecords{group, records}, health, byID(registry.Clusters)}, nil
}

func byID(entries []Cluster) map[string]Cluster {
	clusters := map[string]Cluster{}
	for _, c := range entries {
		clusters[c.ID] = c
	}
	return clusters
}

func (s sight) owners() Owners {
	owners := Owners{TargetGroup: s.ARN, Owners: []Owner{}, External: s.external(), Unreadable: unreadable(s.Unreadable)}
	for _, r := range s.Records.Records {
		owners.Owners = append(owners.Owners, s.owner(r))
	}
	slices.SortFunc(owners.Owners, func(a, b Owner) int { return strings.Compare(a.Owner, b.Owner) })
	return owners
}

func (s sight) owner(r ownership.Record) Owner {
	o := Owner{Owner: r.Owner.String(), Exclusive: r.Exclusive, Held: len(r.Held), Releasing: len(r.Releasing), Targets: []Target{}}
	if c, known := s.clusters[r.Owner.Cluster]; known {
		o.State, o.HeartbeatAt = c.State, &c.HeartbeatAt
	}
	o.Targets = append(o.Targets, s.targets(r.Owner, r.Held, ownership.Held)...)
	o.Targets = append(o.Targets, s.targets(r.Owner, r.Releasing, ownership.Releasing)...)
	for t := range r.Held {
		if s.health[t] == healthy {
			o.Healthy++
		}
	}
	return o
}

func (s sight) targets(self ownership.Owner, entries map[ownership.Target]time.Time, entry ownership.Entry) []Target {
	var out []Target
	for _, t := range slices.Sorted(maps.Keys(entries)) {
		since, others := entries[t], s.others(self, t)
		out = append(out, Target{
			Target: t, Entry: entry.String(), Since: &since, Health: s.health.of(t),
			Shared: others.Hold, Blocked: entry == ownership.Held && others.Release,
		})
	}
	return out
}

// external are the targets that no record names.
func (s sight) external() []Target {
	recorded := ownership.Set{}
	for _, r := range s.Records.Records {
		for t := range r.Held {
			recorded[t] = true
		}
		for t := range r.Releasing {
			recorded[t] = true
		}
	}
	out := []Target{}
	for _, t := range slices.Sorted(maps.Keys(s.health)) {
		if !recorded[t] {
			out = append(out, Target{Target: t, Health: s.health[t], Leaving: s.health[t] == draining})
		}
	}
	return out
}
