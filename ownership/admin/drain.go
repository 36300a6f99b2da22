package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"target-ownership-controller/ownership"
)

// GroupRisk is a group that a drain would leave with few targets.
type GroupRisk struct {
	TargetGroup ownership.GroupARN `json:"targetGroup"`
	// Healthy are the healthy targets that other clusters hold and keep.
	Healthy int `json:"healthyOfOthers"`
}

// DrainRisks are the groups that the cluster shares, has targets in, and leaves
// to others with fewer healthy ones than floor. Clusters that are drained or retired keep
// none. Errors are those of the table and of the lister, and that a record
// of the cluster cannot be read.
func DrainRisks(ctx context.Context, table Table, lister Lister, cluster string, floor int) ([]GroupRisk, error) {
	groups, err := groupsOf(ctx, table, cluster)
	if err != nil {
		return nil, err
	}
	risks := []GroupRisk{}
	for _, g := range groups {
		shared, _, err := g.targetsOf(cluster)
		if err != nil {
			return nil, err
		}
		if shared == 0 {
			continue
		}
		seen, err := readGroup(ctx, table, lister, g.ARN)
		if errors.Is(err, ownership.ErrGroupMissing) {
			continue // nothing is served from it
		}
		if err != nil {
			return nil, err
		}
		if n := seen.healthyWithout(cluster); n < floor {
			risks = append(risks, GroupRisk{g.ARN, n})
		}
	}
	return risks, nil
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

// healthyWithout counts the healthy targets that stay when the cluster leaves.
func (s sight) healthyWithout(cluster string) int {
	stay := ownership.Set{}
	for _, r := range s.Records.Records {
		state := s.clusters[r.Owner.Cluster].State
		if r.Owner.Cluster == cluster || state == ownership.ClusterDrained || state == ownership.ClusterRetired {
			continue
		}
		for t := range r.Held {
			if s.health[t] == healthy {
				stay[t] = true
			}
		}
	}
	return len(stay)
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
		if err := wait(ctx, pollRecords); err != nil {
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
