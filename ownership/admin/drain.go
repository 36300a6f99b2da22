package admin

import (
	"context"
	"errors"
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
// none. Errors are those of the table and of the lister.
func DrainRisks(ctx context.Context, table Table, lister Lister, cluster string, floor int) ([]GroupRisk, error) {
	groups, err := groupsOf(ctx, table, cluster)
	if err != nil {
		return nil, err
	}
	risks := []GroupRisk{}
	for _, g := range groups {
		if targetsOf(g, cluster) == 0 {
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

// targetsOf counts the targets that a drain takes out.
func targetsOf(g groupRecords, cluster string) int {
	n := 0
	for _, r := range g.of(cluster) {
		if !r.Exclusive {
			n += len(r.Held) + len(r.Releasing)
		}
	}
	return n
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
// and tells how many are left each time that changes. Errors are those of the table and of
// the context.
func WaitEmpty(ctx context.Context, table Table, cluster string, progress func(left int)) error {
	last := -1
	for {
		groups, err := groupsOf(ctx, table, cluster)
		if err != nil {
			return err
		}
		left := 0
		for _, g := range groups {
			left += targetsOf(g, cluster)
		}
		if left != last {
			progress(left)
		}
		if last = left; left == 0 {
			return nil
		}
		if err := wait(ctx, pollRecords); err != nil {
			return err
		}
	}
}
