package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

// Cluster is a cluster's entry in the registry.
type Cluster struct {
	ID                string                 `json:"id"`
	State             ownership.ClusterState `json:"state"`
	ControllerVersion string                 `json:"controllerVersion"`
	Fingerprint       string                 `json:"fingerprint"`
	HeartbeatSeq      int64                  `json:"heartbeatSeq"`
	HeartbeatAt       time.Time              `json:"heartbeatAt"` // by the cluster's own clock
	Watched           *Watched               `json:"watched,omitempty"`
}

// Watched is what watching a cluster's entry came to, on our clock.
type Watched struct {
	Seconds    float64 `json:"seconds"`
	Heartbeats int64   `json:"heartbeats"`
	// Was is the fingerprint that the entry had before another cluster took
	// the ID.
	Was string `json:"fingerprintBefore,omitempty"`
}

// Watch is what became of an entry in between, which was d.
func Watch(before, after Cluster, d time.Duration) *Watched {
	w := &Watched{Seconds: d.Seconds(), Heartbeats: after.HeartbeatSeq - before.HeartbeatSeq}
	if before.Fingerprint != after.Fingerprint {
		w.Was = before.Fingerprint
	}
	return w
}

// ClusterList is all of the registry.
type ClusterList struct {
	// ReadAt is when it was read, by this machine's clock. Heartbeats are judged
	// by it: what is read after them may take minutes.
	ReadAt     time.Time    `json:"readAt"`
	Clusters   []Cluster    `json:"clusters"`
	Unreadable []Unreadable `json:"unreadable,omitempty"`
}

// Clusters reads the registry, and if watch is not zero once more after that
// time, to count heartbeats.
func Clusters(ctx context.Context, registry ownership.Registry, watch time.Duration) (ClusterList, error) {
	list, err := readClusters(ctx, registry)
	if err != nil {
		return ClusterList{}, err
	}
	if watch == 0 {
		return list, nil
	}
	return list, list.watch(ctx, registry, watch)
}

func readClusters(ctx context.Context, registry ownership.Registry) (ClusterList, error) {
	list := ClusterList{ReadAt: time.Now(), Clusters: []Cluster{}}
	read, err := registry.Clusters(ctx)
	if err != nil {
		return ClusterList{}, err
	}
	list.Unreadable = unreadable(read.Unreadable)
	for _, entry := range read.Clusters {
		list.Clusters = append(list.Clusters, newCluster(entry))
	}
	return list, nil
}

func newCluster(c ownership.Cluster) Cluster {
	return Cluster{
		ID: c.ID, State: c.State, ControllerVersion: c.ControllerVersion, Fingerprint: c.Fingerprint,
		HeartbeatSeq: c.HeartbeatSeq, HeartbeatAt: c.HeartbeatAt,
	}
}

// watch replaces the entries by what they are after d, and says what became of
// them in between.
func (l *ClusterList) watch(ctx context.Context, registry ownership.Registry, d time.Duration) error {
	if err := Wait(ctx, d); err != nil {
		return err
	}
	read, err := readClusters(ctx, registry)
	if err != nil {
		return err
	}
	entries := byID(read.Clusters)
	for i, before := range l.Clusters {
		if after, there := entries[before.ID]; there {
			after.Watched = Watch(before, after, read.ReadAt.Sub(l.ReadAt))
			l.Clusters[i] = after
		}
	}
	l.ReadAt = read.ReadAt
	return nil
}

// Share is one record of a cluster.
type Share struct {
	TargetGroup ownership.GroupARN `json:"targetGroup"`
	Owner       string             `json:"owner"`
	Held        int                `json:"held"`
	Releasing   int                `json:"releasing"`
	UpdatedAt   time.Time          `json:"updatedAt"`
}

// ClusterDetail is one cluster and its records.
type ClusterDetail struct {
	Cluster    `json:",inline"`
	ReadAt     time.Time    `json:"readAt"` // the entry, as in [ClusterList]
	Records    []Share      `json:"records"`
	Unreadable []Unreadable `json:"unreadable,omitempty"`
}

// ShowCluster reads one entry, its records, and if watch is not zero the
// entry once more after that time.
//
// Errors are those of the table; [ownership.ErrNotFound] if it has no such
// cluster.
func ShowCluster(ctx context.Context, table Table, id string, watch time.Duration) (ClusterDetail, error) {
	readAt := time.Now()
	entry, err := table.Cluster(ctx, id)
	if err != nil {
		return ClusterDetail{}, err
	}
	detail := ClusterDetail{Cluster: newCluster(entry), ReadAt: readAt}
	if detail.Records, detail.Unreadable, err = Shares(ctx, table, id); err != nil {
		return ClusterDetail{}, err
	}
	if watch == 0 {
		return detail, nil
	}
	list := ClusterList{ReadAt: readAt, Clusters: []Cluster{detail.Cluster}}
	err = list.watch(ctx, table, watch)
	detail.Cluster, detail.ReadAt = list.Clusters[0], list.ReadAt
	return detail, err
}

// Shares are the records of a cluster, which may have no entry, in the order
// of the groups, and those that cannot be read. Errors are those of the table.
func Shares(ctx context.Context, store ownership.Store, cluster string) ([]Share, []Unreadable, error) {
	groups, err := groupsOf(ctx, store, cluster)
	if err != nil {
		return nil, nil, err
	}
	shares, unread := []Share{}, []Unreadable(nil)
	for _, g := range groups {
		for _, r := range g.of(cluster) {
			shares = append(shares, Share{g.ARN, r.Owner.String(), len(r.Held), len(r.Releasing), r.UpdatedAt})
		}
		for _, u := range g.Unreadable {
			if ofCluster(u.Owner, cluster) {
				unread = append(unread, Unreadable{fmt.Sprintf("%s in %s", u.Owner, g.ARN.Name()), u.Reason})
			}
		}
	}
	return shares, unread, nil
}

// groupRecords is one complete reading of a group.
type groupRecords struct {
	ARN ownership.GroupARN
	ownership.Records
}

func (g groupRecords) of(cluster string) []ownership.Record {
	return slices.DeleteFunc(slices.Clone(g.Records.Records), func(r ownership.Record) bool { return r.Owner.Cluster != cluster })
}

// ofCluster reports whether an item that cannot be read is a record of the
// cluster. Its key is all that there is.
func ofCluster(owner, cluster string) bool { return strings.HasPrefix(owner, cluster+"/") }

// groupsOf reads the groups in which the cluster has records, in the order of
// their ARNs. Which they are is read from an index that may lag.
func groupsOf(ctx context.Context, store ownership.Store, cluster string) ([]groupRecords, error) {
	keys, err := store.Groups(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var arns []ownership.GroupARN
	for _, key := range keys {
		arns = append(arns, key.Group)
	}
	slices.Sort(arns)
	var groups []groupRecords
	for _, arn := range slices.Compact(arns) {
		records, err := store.Records(ctx, arn)
		if err != nil {
			return nil, err
		}
		groups = append(groups, groupRecords{arn, records})
	}
	return groups, nil
}
