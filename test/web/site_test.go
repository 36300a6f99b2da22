package web_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/memory"
)

// site is a table and a load balancer in memory.
type site struct {
	*WithT
	table *memory.Table
	wait  func(context.Context) // before each listing, if it is set

	mu     sync.Mutex
	groups map[ownership.GroupARN]admin.Health
}

func newSite(t *testing.T) *site {
	return &site{WithT: NewWithT(t), table: memory.New(), groups: map[ownership.GroupARN]admin.Health{}}
}

func arn(name string) ownership.GroupARN {
	return ownership.GroupARN("arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/" + name + "/0123456789abcdef")
}

// Health implements [admin.Lister].
func (s *site) Health(ctx context.Context, group ownership.GroupARN) (admin.Health, error) {
	if s.wait != nil {
		s.wait(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	health, found := s.groups[group]
	if !found {
		return nil, ownership.ErrGroupMissing
	}
	return maps.Clone(health), nil
}

func (s *site) lists(group string, targets ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	health := admin.Health{}
	for i := 0; i < len(targets); i += 2 {
		health[ownership.Target(targets[i].(string))] = targets[i+1].(string)
	}
	s.groups[arn(group)] = health
}

func (s *site) cluster(t *testing.T, id string, state ownership.ClusterState, silent time.Duration) {
	s.Expect(s.table.PutCluster(t.Context(), ownership.Cluster{
		ID: id, Fingerprint: "uid-" + id, State: state, HeartbeatSeq: 812, HeartbeatAt: time.Now().Add(-silent),
		Revision: ownership.Revision{Version: 1, WriteID: id}, ControllerVersion: "v0.4.1",
	}, ownership.Revision{})).To(Succeed())
}

// entries are targets of a record, with the age of each.
type entries map[ownership.Target]time.Duration

func times(e entries) map[ownership.Target]time.Time {
	out := map[ownership.Target]time.Time{}
	for t, age := range e {
		out[t] = time.Now().Add(-age)
	}
	return out
}

// record writes the record of the binding as its controller does.
func (s *site) record(t *testing.T, group string, owner ownership.Owner, held, releasing entries) {
	read, err := s.table.Records(t.Context(), arn(group))
	s.Expect(err).NotTo(HaveOccurred())
	var seen ownership.Revision
	for _, r := range read.Records {
		if r.Owner == owner {
			seen = r.Revision
		}
	}
	s.Expect(s.table.Put(t.Context(), ownership.Record{
		Group: arn(group), Owner: owner, BindingUID: "uid", Held: times(held), Releasing: times(releasing),
		Revision: ownership.Revision{Version: seen.Version + 1, WriteID: fmt.Sprint(owner, seen.Version)}, UpdatedAt: time.Now(),
	}, seen)).To(Succeed())
}

func (s *site) happened(t *testing.T, group string, owner ownership.Owner, ago time.Duration, events ...history.Event) {
	s.Expect(s.table.Record(t.Context(), history.Entry{
		Group: arn(group), Time: time.Now().Add(-ago), ID: ago.String(), Cluster: owner.Cluster,
		Binding: owner.Namespace + "/" + owner.Name, By: "controller v0.4.1", Events: events,
	})).To(Succeed())
}

func owner(cluster, namespace, name string) ownership.Owner {
	return ownership.Owner{Cluster: cluster, Namespace: namespace, Name: name}
}

// calm is a site in which all is well.
func calm(t *testing.T) *site {
	s := newSite(t)
	s.cluster(t, "east", ownership.ClusterActive, 3*time.Second)
	s.cluster(t, "west", ownership.ClusterActive, 7*time.Second)
	s.record(t, "checkout", owner("east", "shop", "checkout"), entries{"10.0.1.4:8080": 9 * time.Hour, "10.0.1.5:8080": 9 * time.Hour}, nil)
	s.record(t, "checkout", owner("west", "shop", "checkout"), entries{"10.0.2.8:8080": time.Hour, "10.0.2.9:8080": 40 * time.Minute}, nil)
	s.record(t, "search", owner("east", "find", "search"), entries{"10.0.1.31:9200": 26 * time.Hour}, nil)
	s.lists("checkout", "10.0.1.4:8080", "healthy", "10.0.1.5:8080", "healthy", "10.0.2.8:8080", "healthy", "10.0.2.9:8080", "healthy")
	s.lists("search", "10.0.1.31:9200", "healthy")
	return s
}

// busy is a site with one of everything that the page can show.
func busy(t *testing.T) *site {
	s := newSite(t)
	s.cluster(t, "east", ownership.ClusterActive, 3*time.Second)
	s.cluster(t, "west", ownership.ClusterActive, 3*time.Hour)
	s.cluster(t, "north", ownership.ClusterDrained, 6*time.Second)
	east, west, north := owner("east", "shop", "checkout"), owner("west", "shop", "checkout"), owner("north", "shop", "checkout")
	held, states := entries{}, []any{}
	for i := range 12 {
		target := fmt.Sprintf("10.0.1.%d:8080", i+4)
		held[ownership.Target(target)] = time.Duration(i+1) * time.Hour
		states = append(states, target, "healthy")
	}
	held["10.0.7.7:8080"] = 50 * time.Second
	held["10.0.2.9:8080"] = 90 * time.Second
	s.record(t, "checkout", east, held, nil)
	s.record(t, "checkout", west, entries{"10.0.2.8:8080": 5 * time.Hour, "10.0.2.9:8080": 5 * time.Hour, "10.0.2.10:8080": 5 * time.Hour}, nil)
	s.record(t, "checkout", north, nil, entries{"10.0.7.7:8080": 40 * time.Second, "10.0.7.8:8080": 40 * time.Second})
	s.lists("checkout", append(states, "10.0.2.8:8080", "healthy", "10.0.2.9:8080", "healthy", "10.0.2.10:8080", "unhealthy",
		"10.0.7.7:8080", "draining", "10.0.7.8:8080", "draining", "10.0.7.9:8080", "draining", "10.9.9.9:8080", "healthy")...)
	s.record(t, "search", owner("east", "find", "search"), entries{"10.0.1.31:9200": 26 * time.Hour, "10.0.1.32:9200": time.Minute}, nil)
	s.record(t, "search", owner("north", "find", "search"), entries{"10.0.7.40:9200": 3 * 24 * time.Hour}, nil)
	s.lists("search", "10.0.1.31:9200", "healthy", "10.0.1.32:9200", "initial", "10.0.7.40:9200", "healthy")
	s.record(t, "legacy-api", owner("west", "old", "api"), entries{"i-0abc12de:30080": 60 * 24 * time.Hour}, nil)
	s.lists("legacy-api", "i-0abc12de:30080", "unhealthy")
	s.happened(t, "checkout", north, 40*time.Second, history.Event{What: history.Releasing, Reason: "the cluster is drained", Targets: []ownership.Target{"10.0.7.7:8080", "10.0.7.8:8080"}})
	s.happened(t, "checkout", east, 45*time.Second,
		history.Event{What: history.Claimed, Reason: "a new endpoint", Targets: []ownership.Target{"10.0.7.7:8080"}},
		history.Event{What: history.Blocked, Reason: "another owner is taking it out", Targets: []ownership.Target{"10.0.7.7:8080"}, Others: []string{north.String()}})
	s.happened(t, "checkout", east, 2*time.Hour,
		history.Event{What: history.Claimed, Reason: "a new endpoint", Targets: []ownership.Target{"10.0.1.4:8080", "10.0.1.5:8080", "10.0.1.6:8080", "10.0.1.7:8080", "10.0.1.8:8080"}},
		history.Event{What: history.Registered, Reason: "a new endpoint", Targets: []ownership.Target{"10.0.1.4:8080", "10.0.1.5:8080", "10.0.1.6:8080", "10.0.1.7:8080", "10.0.1.8:8080"}})
	return s
}
