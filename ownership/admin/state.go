package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"target-ownership-controller/ownership"
)

// writesPerChange is how often a change of state writes until it gives up. The
// cluster's heartbeat, every 10 s by default, is what it may conflict with.
const writesPerChange = 5

// SetState gives the cluster a state, if its present one is among from or is
// the new one already. It changes nothing else of the entry, and writes under
// the condition that nobody wrote since it was read.
//
// Errors are those of the table. After [ownership.ErrUnavailable] the write may
// have been applied, and to set the state again does no harm.
func SetState(ctx context.Context, registry ownership.Registry, id string, state ownership.ClusterState, from ...ownership.ClusterState) error {
	for range writesPerChange {
		entry, err := registry.Cluster(ctx, id)
		switch {
		case err != nil:
			return err
		case entry.State == state:
			return nil
		case !slices.Contains(from, entry.State):
			return fmt.Errorf("cluster %s is %s: it can become %s only if it is %v", id, entry.State, state, from)
		}
		next := entry
		next.State = state
		next.Revision = ownership.Revision{Version: entry.Version + 1, WriteID: rand.Text()}
		if err = registry.PutCluster(ctx, next, entry.Revision); !errors.Is(err, ownership.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("entry of cluster %s keeps changing: %w", id, ownership.ErrConflict)
}
