package web

import (
	"context"
	"sync"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

const (
	// entries and since bound what is read of the history of a group.
	entries = 30
	since   = 24 * time.Hour
	// readsAtOnce is of how many groups the history is read at the same time.
	readsAtOnce = 4
)

// account is what happened in a group, from the newest to the oldest.
type account struct {
	Entries []history.Entry `json:"entries"`
	Error   string          `json:"error,omitempty"`
}

// past reads the history of groups that somebody looks at: once in refresh at
// most, however many look.
type past struct {
	ctx     context.Context
	reader  history.Reader
	refresh time.Duration
	free    chan struct{}

	mu       sync.Mutex
	readings map[ownership.GroupARN]*reading
}

// reading is one reading of a group. What it found is there when it is done.
type reading struct {
	began time.Time
	done  chan struct{}
	found account
}

func newPast(ctx context.Context, reader history.Reader, refresh time.Duration) *past {
	return &past{ctx: ctx, reader: reader, refresh: refresh, free: make(chan struct{}, readsAtOnce), readings: map[ownership.GroupARN]*reading{}}
}

// of waits until ctx ends. Who gives up ends no reading that others wait for.
func (p *past) of(ctx context.Context, group ownership.GroupARN) account {
	r := p.latest(group)
	select {
	case <-r.done:
		return r.found
	case <-ctx.Done():
		return account{Entries: []history.Entry{}, Error: ctx.Err().Error()}
	}
}

// latest is the reading of the group that is under way or fresh, or a new one.
// Those that are neither are forgotten.
func (p *past) latest(group ownership.GroupARN) *reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	for of, r := range p.readings {
		if time.Since(r.began) >= p.refresh && r.isDone() {
			delete(p.readings, of)
		}
	}
	if r, known := p.readings[group]; known {
		return r
	}
	r := &reading{began: time.Now(), done: make(chan struct{})}
	p.readings[group] = r
	go func() {
		defer close(r.done)
		r.found = p.read(group)
	}()
	return r
}

func (r *reading) isDone() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (p *past) read(group ownership.GroupARN) account {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	a := account{Entries: []history.Entry{}}
	select {
	case p.free <- struct{}{}:
		defer func() { <-p.free }()
	case <-ctx.Done():
		a.Error = ctx.Err().Error()
		return a
	}
	query := history.Query{Group: group, Since: time.Now().Add(-since), Limit: entries}
	for entry, err := range p.reader.History(ctx, query) {
		if err != nil {
			a.Error = err.Error()
			break
		}
		a.Entries = append(a.Entries, entry)
	}
	return a
}
