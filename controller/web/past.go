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
)

// account is what happened in a group, from the newest to the oldest.
type account struct {
	Entries []history.Entry `json:"entries"`
	Error   string          `json:"error,omitempty"`
	read    time.Time
}

// past reads the history of groups that somebody looks at, one at a time, and
// each at most once in refresh.
type past struct {
	reader  history.Reader
	refresh time.Duration
	mu      sync.Mutex
	known   map[ownership.GroupARN]account
}

func newPast(reader history.Reader, refresh time.Duration) *past {
	return &past{reader: reader, refresh: refresh, known: map[ownership.GroupARN]account{}}
}

func (p *past) of(ctx context.Context, group ownership.GroupARN) account {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, known := p.known[group]; known && time.Since(a.read) < p.refresh {
		return a
	}
	a := account{Entries: []history.Entry{}, read: time.Now()}
	query := history.Query{Group: group, Since: time.Now().Add(-since), Limit: entries}
	for entry, err := range p.reader.History(ctx, query) {
		if err != nil {
			a.Error = err.Error()
			break
		}
		a.Entries = append(a.Entries, entry)
	}
	if ctx.Err() == nil { // who gave up has no answer for others
		p.known[group] = a
	}
	return a
}
