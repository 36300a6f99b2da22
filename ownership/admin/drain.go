package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// DrainPlan is what a drain of a cluster would do.
type DrainPlan struct {
	Groups []GroupDrain
	// Others are the clusters whose healthy targets stay in these groups.
	Others []Cluster
}

// GroupDrain is what a drain does to a group that the cluster shares and has
// targets in.
type GroupDrain struct {
	TargetGroup ownership.GroupARN
	Leave       int // targets of the cluster
	// Healthy are the healthy targets that other clusters hold and keep.
	// Clusters that are drained or retired keep none.
	Healthy int
}

// PlanDrain tells what a drain would do. Errors are those of the table and of
// the lister, and that a record of the cluster cannot be read.
func PlanDrain(ctx context.Context, table Table, lister Lister, cluster string) (DrainPlan, error) {
	groups, err := groupsOf(ctx, table, cluster)
	if err != nil {
		return DrainPlan{}, err
	}
	plan, others := DrainPlan{}, map[string]Cluster{}
	for _, g := range groups {
		shared, _, err := g.targetsOf(cluster)
		if err != nil {
			return DrainPlan{}, err
		}
		if shared == 0 {
			continue
		}
		seen, err := readGroup(ctx, table, lister, g.ARN)
		if errors.Is(err, ownership.ErrGroupMissing) {
			continue // nothing is served from it
		}
		if err != nil {
			return DrainPlan{}, err
		}
		stay := seen.healthyWithout(cluster)
		plan.Groups = append(plan.Groups, GroupDrain{g.ARN, shared, len(union(stay))})
		for id := range stay {
			c := seen.clusters[id] // without an entry it was never heard of
			c.ID = id
			others[id] = c
		}
	}
	for _, id := range slices.Sorted(maps.Keys(others)) {
		plan.Others = append(plan.Others, others[id])
	}
	return plan, nil
}

// Below are the groups that keep fewer healthy targets than floor.
func (p DrainPlan) Below(floor int) []GroupDrain {
	return slices.DeleteFunc(slices.Clone(p.Groups), func(g GroupDrain) bool { return g.Healthy >= floor })
}

// targetsOf counts the targets that a drain takes out, and those of bindings
// that have the group for themselves.
func (g groupRecords) targetsOf(cluster string) (shared, exclusive int, err error) {
	for _, u := range g.Unreadable {
		if ofCluster(u.Owner, cluster) {
			return 0, 0, fmt.Errorf("the record %s of target group %s cannot be read, and may name any target: %s", u.Owner, g.ARN.Name(), u.Reason)
		}
	}
	for _, r := range g.of(cluster) {
		if n := len(r.Held) + len(r.Releasing); r.Exclusive {
			exclusive += n
		} else {
			shared += n
		}
	}
	return shared, exclusive, nil
}

// healthyWithout are the healthy targets that stay when the cluster leaves, by
// the cluster that holds them.
func (s sight) healthyWithout(cluster string) map[string]ownership.Set {
	stay := map[string]ownership.Set{}
	for _, r := range s.Records.Records {
		id := r.Owner.Cluster
		state := s.clusters[id].State
		if id == cluster || state == ownership.ClusterDrained || state == ownership.ClusterRetired {
			continue
		}
		for t := range r.Held {
			if s.health[t] != healthy {
				continue
			}
			if stay[id] == nil {
				stay[id] = ownership.Set{}
			}
			stay[id][t] = true
		}
	}
	return stay
}

func union(sets map[string]ownership.Set) ownership.Set {
	all := ownership.Set{}
	for _, set := range sets {
		maps.Copy(all, set)
	}
	return all
}

// pollRecords is how often progress is read from the table.
const pollRecords = 5 * time.Second

// WaitEmpty returns when the cluster has no target in any group that it shares,
// and tells how many are left each time that changes. It returns how many it
// has in groups that bindings have for themselves, which a drain leaves alone.
// Errors are those of the table and of the context, and that a record of the
// cluster cannot be read.
func WaitEmpty(ctx context.Context, table Table, cluster string, progress func(left int)) (exclusive int, err error) {
	last := -1
	for {
		left, exclusive, err := targetsIn(ctx, table, cluster)
		if err != nil {
			return 0, err
		}
		if left != last {
			progress(left)
		}
		if last = left; left == 0 {
			return exclusive, nil
		}
		if err := Wait(ctx, pollRecords); err != nil {
			return 0, err
		}
	}
}

func targetsIn(ctx context.Context, table Table, cluster string) (shared, exclusive int, err error) {
	groups, err := groupsOf(ctx, table, cluster)
	if err != nil {
		return 0, 0, err
	}
	for _, g := range groups {
		s, e, err := g.targetsOf(cluster)
		if err != nil {
			return 0, 0, err
		}
		shared, exclusive = shared+s, exclusive+e
	}
	return shared, exclusive, nil
}
