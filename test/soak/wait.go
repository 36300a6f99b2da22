package soak

import (
	"context"
	"fmt"
	"time"
)

const pollEvery = 200 * time.Millisecond

// pause waits, or returns why the context ended meanwhile.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until asks what is missing until nothing is, for at most as long as limit.
func until(ctx context.Context, what string, limit time.Duration, missing func(context.Context) (string, error)) error {
	deadline := time.Now().Add(limit)
	for {
		now, err := missing(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case now == "":
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("waited %s in vain for %s: %s", limit, what, now)
		}
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
	}
}
