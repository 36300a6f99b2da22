package cluster

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/ownership"
)

const (
	peersInterval = 30 * time.Second
	peersTimeout  = 10 * time.Second
)

// Peer is what we see of another cluster.
type Peer struct {
	State ownership.ClusterState
	// Silent is for how long its heartbeat has been standing still, at least:
	// from after the reading that first saw the heartbeat to before the last
	// one, on our own monotonic clock. It starts at zero when we start.
	Silent time.Duration
	// Left is true of a drained cluster whose heartbeat stands still and that
	// has no targets: its controller was uninstalled, and nobody misses it.
	Left bool
}

// PeerTable is where the clusters and their records are.
type PeerTable interface {
	ownership.Registry
	// Groups is that of [ownership.Store].
	Groups(ctx context.Context, clusterID string) ([]ownership.Key, error)
}

// Peers watches the heartbeats of the other clusters, for status and metrics.
// It removes nothing: a cluster whose controller is down may still serve. It
// is a manager.Runnable of the leader, and safe for concurrent use.
type Peers struct {
	table  PeerTable
	self   string
	outage outage

	mu        sync.Mutex
	sightings map[string]heartbeatSighting
	peers     map[string]Peer
	told      map[string]string // why entries cannot be read, as logged
}

// heartbeatSighting is the first time we saw a cluster at a heartbeat.
type heartbeatSighting struct {
	fingerprint string
	seq         int64
	first       time.Time
}

// NewPeers returns the peers of the cluster with the ID self, none seen yet.
func NewPeers(table PeerTable, self string) *Peers {
	return &Peers{table: table, self: self, outage: outage{name: "peers"}}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (p *Peers) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable: it observes every 30 s and returns nil
// when ctx ends.
func (p *Peers) Start(ctx context.Context) error {
	for {
		if _, err := p.Observe(ctx); ctx.Err() == nil {
			p.outage.note(ctx, "the other clusters cannot be seen", err)
		}
		if !pause(ctx, peersInterval) {
			return nil
		}
	}
}

// Observe reads the registry once, with one query and one more for each
// drained cluster, and returns the other clusters by ID. An error, of a class of package ownership, leaves what was
// seen before: a cluster is not silent because we cannot see it. So does an
// entry that cannot be read, for its cluster.
func (p *Peers) Observe(ctx context.Context) (map[string]Peer, error) {
	ctx, cancel := context.WithTimeout(ctx, peersTimeout)
	defer cancel()
	began := time.Now()
	read, err := p.table.Clusters(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the clusters: %w", err)
	}
	ended := time.Now()
	empty, err := p.empty(ctx, read.Clusters)

	p.mu.Lock()
	defer p.mu.Unlock()
	sightings := make(map[string]heartbeatSighting, len(read.Clusters))
	peers := make(map[string]Peer, len(read.Clusters))
	for _, c := range read.Clusters {
		if c.ID == p.self {
			continue
		}
		s, seen := p.sightings[c.ID]
		if !seen || s.seq != c.HeartbeatSeq || s.fingerprint != c.Fingerprint {
			s = heartbeatSighting{fingerprint: c.Fingerprint, seq: c.HeartbeatSeq, first: ended}
		}
		sightings[c.ID] = s
		silent := max(0, began.Sub(s.first))
		peers[c.ID] = Peer{State: c.State, Silent: silent, Left: silent > 0 && empty[c.ID]}
	}
	for _, u := range read.Unreadable {
		if s, seen := p.sightings[u.Owner]; seen {
			sightings[u.Owner], peers[u.Owner] = s, p.peers[u.Owner]
		}
	}
	p.tell(ctx, read.Unreadable)
	p.sightings, p.peers = sightings, peers
	return maps.Clone(peers), err
}

// empty are the drained clusters that have no records. What cannot be read
// now is as it was seen before.
func (p *Peers) empty(ctx context.Context, clusters []ownership.Cluster) (map[string]bool, error) {
	empty, failed, before := map[string]bool{}, error(nil), p.Seen()
	for _, c := range clusters {
		if c.ID == p.self || c.State != ownership.ClusterDrained {
			continue
		}
		records, err := p.table.Groups(ctx, c.ID)
		if empty[c.ID] = len(records) == 0; err != nil {
			empty[c.ID], failed = before[c.ID].Left, fmt.Errorf("read what cluster %s has: %w", c.ID, err)
		}
	}
	return empty, failed
}

// tell names entries that cannot be read, each once as long as it stays so.
func (p *Peers) tell(ctx context.Context, unreadable []ownership.Unreadable) {
	told := make(map[string]string, len(unreadable))
	for _, u := range unreadable {
		told[u.Owner] = u.Reason
		if u.Owner != p.self && p.told[u.Owner] != u.Reason {
			log.FromContext(ctx).WithName("peers").Error(ownership.ErrUnreadable, "another cluster cannot be seen", "cluster", u.Owner, "reason", u.Reason)
		}
	}
	p.told = told
}

// Seen returns the other clusters as of the last successful observation.
func (p *Peers) Seen() map[string]Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.peers)
}
