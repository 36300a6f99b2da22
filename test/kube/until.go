package kube

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience bounds a wait whose context has no deadline.
const patience = 2 * time.Minute

// Check reads what it needs and says whether it is as wanted. Progress is a
// few words on how far things are, for the error when time is up.
type Check func(ctx context.Context) (done bool, progress string, err error)

// Until calls check now and after each change of an object of the list's
// kind that options select, until it is done. It fails when check does, when
// ctx ends (after 2 minutes if it has no deadline) or when one of the
// cluster's programs ends.
func (c *Cluster) Until(ctx context.Context, kind client.ObjectList, check Check, options ...client.ListOption) error {
	ctx, cancel := c.whileUp(ctx)
	defer cancel()
	if _, bounded := ctx.Deadline(); !bounded {
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	progress := "nothing read yet"
	for {
		// The API server ends watches after a while; then a new one goes on.
		done, err := c.watchUntil(ctx, kind, check, &progress, options)
		switch {
		case ctx.Err() != nil && !done:
			return fmt.Errorf("cluster %s: waited in vain: %s: %w", c.Name, progress, context.Cause(ctx))
		case err != nil:
			return fmt.Errorf("cluster %s: waiting: %s: %w", c.Name, progress, err)
		case done:
			return nil
		}
	}
}

// watchUntil returns when check is done or fails, or the watch has ended.
// The watch is open before the first check, so that no change is missed.
func (c *Cluster) watchUntil(ctx context.Context, kind client.ObjectList, check Check, progress *string, options []client.ListOption) (bool, error) {
	changes, err := c.Client.Watch(ctx, kind, options...)
	if err != nil {
		return false, err
	}
	defer changes.Stop()
	for open := true; open; open = nextChange(ctx, changes) {
		done, text, err := check(ctx)
		if err != nil || done {
			return done, err
		}
		*progress = text
	}
	return false, nil
}

// nextChange waits for a change and takes those that came with it, so that
// a burst leads to one check. False means that the watch has ended.
func nextChange(ctx context.Context, changes watch.Interface) bool {
	select {
	case <-ctx.Done():
		return false
	case _, open := <-changes.ResultChan():
		if !open {
			return false
		}
	}
	for {
		select {
		case _, open := <-changes.ResultChan():
			if !open {
				return false
			}
		default:
			return true
		}
	}
}
