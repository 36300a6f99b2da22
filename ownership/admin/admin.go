// Package admin answers operators' questions about a table of ownership, and
// makes the changes that operators make: it works on the table and the target
// groups alone, and needs no cluster.
//
// What it reads it returns as it is stored, with wall-clock times that were
// written by other machines: they are for people. Where something is decided
// it watches on its own clock.
package admin

import (
	"context"
	"time"

	"target-ownership-controller/ownership"
)

// Table is the records and the registry, which are one table.
type Table interface {
	ownership.Store
	ownership.Registry
}

// Unreadable is an item of the table that cannot be understood.
type Unreadable struct {
	Item   string `json:"item"` // the range key as stored
	Reason string `json:"reason"`
}

func unreadable(items []ownership.Unreadable) []Unreadable {
	var out []Unreadable
	for _, u := range items {
		out = append(out, Unreadable{Item: u.Owner, Reason: u.Reason})
	}
	return out
}

// Wait returns after d, or with the error of the context before that.
func Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
