// Package audit writes the history of the controller's passes into the
// ownership table, beside them: a table that is slow or gone delays no pass.
package audit

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

const (
	// capacity is how many entries wait for the table at most. One takes a few
	// KB, and 30 KB at most.
	capacity = 500

	// A write that failed is tried again after firstRetry, and after twice as
	// long each time up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Trail takes entries at once and writes them one by one. What the table does
// not take in time it drops, the oldest first, and counts. It is a
// manager.Runnable, and safe for concurrent use.
type Trail struct {
	store     history.Store
	retention time.Duration

	mu      sync.Mutex
	queue   []history.Entry
	dropped int // so far, which also numbers the head of the queue
	added   chan struct{}

	retry   time.Duration // zero while writes succeed
	writing sync.Mutex    // one writer at a time
}

// NewTrail returns a trail whose entries expire after the retention, which has
// to be positive.
func NewTrail(store history.Store, retention time.Duration) *Trail {
	return &Trail{store: store, retention: retention, added: make(chan struct{}, 1)}
}

// Add takes an entry, whatever becomes of it. It never waits for the table.
func (t *Trail) Add(e history.Entry) {
	e = e.Bound()
	e.Expires = e.Time.Add(t.retention)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == capacity {
		t.drop(1)
	}
	t.queue = append(t.queue, e)
	select {
	case t.added <- struct{}{}:
	default: // it has been told
	}
}

// drop takes the oldest entries out; the caller holds the lock.
func (t *Trail) drop(n int) {
	t.queue = t.queue[n:]
	t.dropped += n
	metrics.HistoryDropped(n)
}

// NeedLeaderElection is for the manager. Entries of a leader that steps down
// are still to be written.
func (t *Trail) NeedLeaderElection() bool { return false }

// Start writes what comes until ctx ends, and returns nil. [Trail.Flush]
// writes the rest.
func (t *Trail) Start(ctx context.Context) error {
	for {
		added, again := t.added, (<-chan time.Time)(nil)
		if wait := t.write(ctx); wait > 0 {
			added, again = nil, time.After(wait)
		}
		select {
		case <-added:
		case <-again:
		case <-ctx.Done():
			return nil
		}
	}
}

// Flush writes what is left once all passes have ended. What the table has not
// taken when ctx ends is dropped.
func (t *Trail) Flush(ctx context.Context) {
	for wait := t.write(ctx); wait > 0 && ctx.Err() == nil; wait = t.write(ctx) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := len(t.queue); left > 0 {
		log.FromContext(ctx).WithName("history").Info("entries were not written before the end", "entries", left)
		t.drop(left)
	}
}

// write writes what has come so far. It returns when to try again what the
// table did not take, or 0.
func (t *Trail) write(ctx context.Context) time.Duration {
	t.writing.Lock()
	defer t.writing.Unlock()
	for {
		e, dropped, found := t.oldest()
		if !found || ctx.Err() != nil {
			return 0
		}
		err := t.store.Record(ctx, e)
		if err != nil && passing(err) {
			return t.failed(ctx, err)
		}
		t.done(ctx, dropped, err)
	}
}

func (t *Trail) oldest() (e history.Entry, dropped int, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return history.Entry{}, 0, false
	}
	return t.queue[0], t.dropped, true
}

// done takes the entry out of the queue that was the oldest when so many had
// been dropped; it may have been dropped too while it was written.
func (t *Trail) done(ctx context.Context, dropped int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	logger := log.FromContext(ctx).WithName("history")
	switch {
	case t.dropped != dropped:
	case err != nil:
		logger.Error(err, "an entry cannot be written")
		t.drop(1)
	default:
		t.queue = t.queue[1:]
	}
	if err == nil && t.retry > 0 {
		logger.Info("history is written again")
		t.retry = 0
	}
}

// failed tells an outage once, when it begins.
func (t *Trail) failed(ctx context.Context, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	if t.retry == 0 {
		log.FromContext(ctx).WithName("history").Error(err, "history cannot be written; passes go on without it")
	}
	t.retry = min(max(2*t.retry, firstRetry), lastRetry)
	return t.retry
}

// passing reports whether the table may take the same entry later.
func passing(err error) bool {
	for _, class := range []error{
		ownership.ErrThrottled, ownership.ErrUnavailable, ownership.ErrForbidden,
		ownership.ErrTableMissing, ownership.ErrTableCreating,
	} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}
