package readiness

import (
	"context"
	"sync"
	"time"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// A group is listed again at firstPoll after it was, and then at twice the
// time, up to lastPoll, until a Pod makes progress.
const (
	firstPoll = 2 * time.Second
	lastPoll  = 15 * time.Second
)

// listing is one answer about a group. It has all targets, so that one call is
// enough for all Pods and bindings.
type listing struct {
	began   time.Time
	targets map[ownership.Target]elb.Health
	err     error
}

// listings are the last ones of each group.
type listings struct {
	now func() time.Time
	mu  sync.Mutex
	of  map[ownership.GroupARN]*listing
}

// get returns a listing that began after the given time, or nil if it is too
// soon to ask again. It reports whether it asked.
func (l *listings) get(ctx context.Context, groups binding.Groups, group ownership.GroupARN, after time.Time) (found *listing, asked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for arn, old := range l.of {
		if now.Sub(old.began) >= lastPoll {
			delete(l.of, arn)
		}
	}
	last := l.of[group]
	switch {
	case last != nil && now.Sub(last.began) < firstPoll && last.began.Before(after):
		return nil, false
	case last != nil && now.Sub(last.began) < firstPoll:
		return last, false
	}
	next := &listing{began: now}
	next.targets, next.err = groups.Targets(ctx, group)
	l.of[group] = next
	return next, true
}
