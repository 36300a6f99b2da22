// Package audit writes the history of the controller's passes into the
// ownership table, beside them: a table that is slow or gone delays no pass.
package audit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// capacity is how many entries wait for the table at most, each of them of the
// size of an item: 1 KB for a few targets, and 64 KB at most.
const capacity = 500

// Trail takes entries at once and writes them one by one, at a [pace]. What the
// table does not take in time it drops and counts: the oldest first, since
// people ask about what has just happened. It is a manager.Runnable, and safe
// for concurrent use.
type Trail struct {
	store     history.Store
	retention time.Duration

	mu      sync.Mutex
	queue   []history.Entry
	dropped int // so far, which also numbers the head of the queue
	added   chan struct{}

	writing sync.Mutex // one writer at a time
	pace    pace
}

// NewTrail returns a trail whose entries expire after the retention, which has
// to be positive.
func NewTrail(store history.Store, retention time.Duration) *Trail {
	return &Trail{store: store, retention: retention, added: make(chan struct{}, 1), pace: newPace()}
}

// Add takes an entry, whatever becomes of it. It never waits for the table.
func (t *Trail) Add(e history.Entry) {
	e.Expires = e.Time.Add(t.retention)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, part := range e.Split() {
		if len(t.queue) == capacity {
			t.drop(1)
		}
		t.queue = append(t.queue, part)
	}
	select {
	case t.added <- struct{}{}:
	default: // it has been told
	}
}

// drop takes the oldest entries out; the caller holds the lock.
func (t *Trail) drop(n int) {
	t.queue = slices.Delete(t.queue, 0, n)
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
		t.write(ctx)
		select {
		case <-t.added:
		case <-ctx.Done():
			return nil
		}
	}
}

// Flush writes what is left once all passes have ended. What the table has not
// taken when ctx ends is dropped, and what it cannot have taken by then at once.
func (t *Trail) Flush(ctx context.Context) {
	t.write(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := len(t.queue); left > 0 {
		log.FromContext(ctx).WithName("history").Info("entries were not written before the end", "entries", left)
		t.drop(left)
	}
}

// write returns when all that has come is written, or when ctx ends before that.
func (t *Trail) write(ctx context.Context) {
	t.writing.Lock()
	defer t.writing.Unlock()
	for {
		e, dropped, found := t.oldest()
		if !found || !t.pace.wait(ctx, e.Size()) {
			return
		}
		if t.isStill(dropped) {
			t.done(ctx, dropped, t.store.Record(ctx, e))
		}
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

// isStill reports whether no entry has been dropped since so many had been.
func (t *Trail) isStill(dropped int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped == dropped
}

// done goes by what became of the write of the entry that was the oldest when so
// many had been dropped. The end of the process says nothing about the table.
func (t *Trail) done(ctx context.Context, dropped int, err error) {
	logger := log.FromContext(ctx).WithName("history")
	switch {
	case err == nil:
		t.remove(dropped)
		if t.pace.succeeded() {
			logger.Info("history is written again")
		}
	case ctx.Err() != nil:
	case !passing(err):
		logger.Error(err, "an entry cannot be written")
		metrics.HistoryDropped(t.remove(dropped))
	case t.pace.failed():
		logger.Error(err, "history cannot be written; passes go on without it")
	}
}

// remove takes the oldest entry out of the queue, unless it was dropped while it
// was written, and returns how many it took out.
func (t *Trail) remove(dropped int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped != dropped {
		return 0
	}
	t.queue = slices.Delete(t.queue, 0, 1)
	return 1
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
