package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"target-ownership-controller/ownership"
)

// Survey is who owns what in all groups of a table.
type Survey struct {
	At time.Time `json:"at"` // when it was complete, by this machine's clock
	ClusterList
	Groups []Group `json:"groups"` // in the order of their names
}

// Group is who owns what in a group, as far as that could be read.
type Group struct {
	Owners
	// Missing: records name the group, and the load balancer has none.
	Missing bool `json:"missing,omitempty"`
	// Late: there was no time left to read it.
	Late bool `json:"late,omitempty"`
	// Problem is why the records or the health could not be read.
	Problem string `json:"problem,omitempty"`
}

// groupsAtOnce is how many groups are read at the same time.
const groupsAtOnce = 4

// TakeSurvey reads the registry and all groups in which the clusters of the
// registry have records, and extra ones. Which they are is read from
// an index that may lag. One group that cannot be read hides no other, and
// neither do those that are not read by the deadline of the context.
//
// Errors are those of the table, for the registry and the index, and that of a
// context that was cancelled.
func TakeSurvey(ctx context.Context, table Table, lister Lister, extra []ownership.GroupARN) (Survey, error) {
	registry, err := readClusters(ctx, table)
	if err != nil {
		return Survey{}, err
	}
	groups, err := allGroups(ctx, table, registry, extra)
	if err != nil {
		return Survey{}, err
	}
	s := Survey{ClusterList: registry, Groups: make([]Group, len(groups))}
	clusters := byID(registry.Clusters)
	var reading sync.WaitGroup
	free := make(chan struct{}, groupsAtOnce)
	for i, arn := range groups {
		free <- struct{}{}
		reading.Go(func() {
			s.Groups[i] = surveyGroup(ctx, table, lister, arn, clusters)
			<-free
		})
	}
	reading.Wait()
	s.At = time.Now()
	if errors.Is(ctx.Err(), context.Canceled) {
		return Survey{}, ctx.Err()
	}
	return s, nil
}

func allGroups(ctx context.Context, store ownership.Store, registry ClusterList, extra []ownership.GroupARN) ([]ownership.GroupARN, error) {
	arns := slices.Clone(extra)
	for _, id := range registry.ids() {
		keys, err := store.Groups(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			arns = append(arns, key.Group)
		}
	}
	slices.SortFunc(arns, func(a, b ownership.GroupARN) int {
		if byName := strings.Compare(a.Name(), b.Name()); byName != 0 {
			return byName
		}
		return strings.Compare(string(a), string(b))
	})
	return slices.Compact(arns), nil
}

// ids are all IDs of the registry, those of unreadable entries too.
func (l ClusterList) ids() []string {
	var out []string
	for _, c := range l.Clusters {
		out = append(out, c.ID)
	}
	for _, u := range l.Unreadable {
		out = append(out, u.Item)
	}
	return out
}

func surveyGroup(ctx context.Context, table Table, lister Lister, arn ownership.GroupARN, clusters map[string]Cluster) Group {
	g := readForSurvey(ctx, table, lister, arn, clusters)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && g.Problem != "" {
		return Group{Owners: Owners{TargetGroup: arn, Owners: []Owner{}, External: []Target{}}, Late: true, Problem: "there was no time left to read it"}
	}
	return g
}

func readForSurvey(ctx context.Context, table Table, lister Lister, arn ownership.GroupARN, clusters map[string]Cluster) Group {
	var g Group
	health, err := lister.Health(ctx, arn) // first, as in readGroup
	g.Missing = errors.Is(err, ownership.ErrGroupMissing)
	if err != nil {
		health = nil
		g.Problem = err.Error()
	}
	records, err := table.Records(ctx, arn)
	if err != nil {
		g.Problem = err.Error()
		health = nil // else all its targets would look external
	}
	g.Owners = sight{groupRecords{arn, records}, health, clusters}.owners()
	return g
}
