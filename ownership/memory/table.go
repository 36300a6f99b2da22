// Package memory keeps records and clusters in memory, with the semantics of
// the DynamoDB table and with faults to order: a call can be refused, applied
// with its reply lost, or held back until the test lands it. It serves tests
// and simulations.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// Table implements [ownership.Store], [ownership.Registry] and
// [history.Store]. All methods
// are safe for concurrent use, and nothing that goes in or out shares memory
// with the table.
type Table struct {
	mu        sync.Mutex
	rows      rows
	delayed   []delayed
	intercept func(Op) Fault
	observe   func(Change)
}

// rows is the content of a table.
type rows struct {
	records    map[ownership.Key]ownership.Record
	unreadable map[ownership.Key]string // the reason
	clusters   map[string]ownership.Cluster
	history    []history.Entry // never changed in place

	unreadableClusters map[string]string // the reason
}

// Change is one applied write of a record. Before is nil for a new record,
// After for a deleted one. Both are copies.
type Change struct {
	Key           ownership.Key
	Before, After *ownership.Record
}

// New returns an empty table.
func New() *Table { return &Table{rows: newRows()} }

func newRows() rows {
	return rows{
		records:    map[ownership.Key]ownership.Record{},
		unreadable: map[ownership.Key]string{},
		clusters:   map[string]ownership.Cluster{},

		unreadableClusters: map[string]string{},
	}
}

// Records implements [ownership.Store]. Records and unreadable items come in
// the order of their owners, as from DynamoDB.
func (t *Table) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	var out ownership.Records
	err := t.read(ctx, Op{Kind: Records, Group: group}, func() error {
		for _, rec := range t.rows.records {
			if rec.Group == group {
				out.Records = append(out.Records, rec.Clone())
			}
		}
		for key, reason := range t.rows.unreadable {
			if key.Group == group {
				out.Unreadable = append(out.Unreadable, ownership.Unreadable{Owner: key.Owner.String(), Reason: reason})
			}
		}
		return nil
	})
	slices.SortFunc(out.Records, func(a, b ownership.Record) int { return compareOwners(a.Owner, b.Owner) })
	slices.SortFunc(out.Unreadable, compareUnreadable)
	return out, err
}

// Put implements [ownership.Store].
func (t *Table) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	if err := cmp.Or(checkRevision(next.Revision, seen), next.Validate(), checkSize(next)); err != nil {
		return err
	}
	next = next.Clone()
	key := ownership.Key{Group: next.Group, Owner: next.Owner}
	return t.write(ctx, Op{Kind: Put, Group: key.Group, Owner: key.Owner}, func() error {
		return t.put(key, next, seen)
	})
}

// Delete implements [ownership.Store].
func (t *Table) Delete(ctx context.Context, rec ownership.Record) error {
	key := ownership.Key{Group: rec.Group, Owner: rec.Owner}
	return t.write(ctx, Op{Kind: Delete, Group: key.Group, Owner: key.Owner}, func() error {
		before, found := t.rows.records[key]
		if !found || before.Revision != rec.Revision {
			return conflict(key.Owner.String())
		}
		delete(t.rows.records, key)
		t.changed(Change{Key: key, Before: &before})
		return nil
	})
}

// Groups implements [ownership.Store].
func (t *Table) Groups(ctx context.Context, clusterID string) ([]ownership.Key, error) {
	var keys []ownership.Key
	err := t.read(ctx, Op{Kind: Groups, Cluster: clusterID}, func() error {
		for key := range t.rows.records {
			keys = append(keys, key)
		}
		for key := range t.rows.unreadable {
			keys = append(keys, key)
		}
		keys = slices.DeleteFunc(keys, func(k ownership.Key) bool { return k.Owner.Cluster != clusterID })
		return nil
	})
	slices.SortFunc(keys, compareKeys)
	return keys, err
}

// Cluster implements [ownership.Registry].
func (t *Table) Cluster(ctx context.Context, id string) (ownership.Cluster, error) {
	var out ownership.Cluster
	err := t.read(ctx, Op{Kind: Cluster, Cluster: id}, func() error {
		if reason, broken := t.rows.unreadableClusters[id]; broken {
			return fmt.Errorf("cluster %s: %w: %s", id, ownership.ErrUnreadable, reason)
		}
		cluster, found := t.rows.clusters[id]
		if !found {
			return fmt.Errorf("cluster %s: %w", id, ownership.ErrNotFound)
		}
		out = cluster
		return nil
	})
	return out, err
}

// Clusters implements [ownership.Registry]. They come in the order of their
// IDs.
func (t *Table) Clusters(ctx context.Context) (ownership.Clusters, error) {
	var out ownership.Clusters
	err := t.read(ctx, Op{Kind: Clusters}, func() error {
		out.Clusters = slices.Collect(maps.Values(t.rows.clusters))
		for id, reason := range t.rows.unreadableClusters {
			out.Unreadable = append(out.Unreadable, ownership.Unreadable{Owner: id, Reason: reason})
		}
		return nil
	})
	slices.SortFunc(out.Clusters, func(a, b ownership.Cluster) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(out.Unreadable, compareUnreadable)
	return out, err
}

// PutCluster implements [ownership.Registry].
func (t *Table) PutCluster(ctx context.Context, next ownership.Cluster, seen ownership.Revision) error {
	if err := cmp.Or(checkRevision(next.Revision, seen), next.Validate()); err != nil {
		return err
	}
	return t.write(ctx, Op{Kind: PutCluster, Cluster: next.ID}, func() error {
		if _, broken := t.rows.unreadableClusters[next.ID]; broken || t.rows.clusters[next.ID].Revision != seen {
			return conflict("cluster " + next.ID)
		}
		t.rows.clusters[next.ID] = next
		return nil
	})
}

// put applies a put; the caller holds the lock.
func (t *Table) put(key ownership.Key, next ownership.Record, seen ownership.Revision) error {
	if _, broken := t.rows.unreadable[key]; broken {
		return conflict(key.Owner.String())
	}
	before, found := t.rows.records[key]
	if before.Revision != seen {
		return conflict(key.Owner.String())
	}
	t.rows.records[key] = next
	change := Change{Key: key, After: &next}
	if found {
		change.Before = &before
	}
	t.changed(change)
	return nil
}

func (t *Table) changed(c Change) {
	if t.observe == nil {
		return
	}
	c.Before, c.After = copyOf(c.Before), copyOf(c.After)
	t.observe(c)
}

func copyOf(rec *ownership.Record) *ownership.Record {
	if rec == nil {
		return nil
	}
	c := rec.Clone()
	return &c
}

func conflict(item string) error {
	return fmt.Errorf("write %s: %w", item, ownership.ErrConflict)
}
