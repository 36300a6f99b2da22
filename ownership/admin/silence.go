package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"target-ownership-controller/ownership"
)

// Silence is how long the heartbeat of a cluster has to stand still before
// others act for it: far longer than any claim on its ID counts
// (docs/decisions/0003-cluster-identity.md).
const Silence = 5 * time.Minute

// ErrAlive: the cluster's controller writes.
var ErrAlive = errors.New("the controller of the cluster is running")

// pollHeartbeat is how often a heartbeat is looked for.
const pollHeartbeat = 10 * time.Second

// WatchSilence returns when the heartbeat of the cluster has stood still for
// d on our own clock. A cluster without an entry has no heartbeat.
//
// Errors are [ErrAlive], and those of the table and of the context.
func WatchSilence(ctx context.Context, registry ownership.Registry, id string, d time.Duration) error {
	first, err := heartbeat(ctx, registry, id)
	if err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < d; {
		if err := Wait(ctx, min(pollHeartbeat, d-time.Since(began))); err != nil {
			return err
		}
		seq, err := heartbeat(ctx, registry, id)
		if err != nil {
			return err
		}
		if seq != first {
			return fmt.Errorf("cluster %s: %w: its heartbeat went from %d to %d", id, ErrAlive, first, seq)
		}
	}
	return nil
}

func heartbeat(ctx context.Context, registry ownership.Registry, id string) (int64, error) {
	entry, err := registry.Cluster(ctx, id)
	if errors.Is(err, ownership.ErrNotFound) {
		return 0, nil
	}
	return entry.HeartbeatSeq, err
}
