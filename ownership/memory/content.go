package memory

import (
	"fmt"
	"maps"

	"target-ownership-controller/ownership"
)

// Snapshot is the content of a table at one time.
type Snapshot struct{ rows rows }

// Snapshot copies the content of the table. Delayed writes are no part of it.
func (t *Table) Snapshot() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Snapshot{t.rows.clone()}
}

// Restore replaces the content, as somebody does who restores a backup.
// Delayed writes stay on their way. [Table.Observe] does not see it.
func (t *Table) Restore(s Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = s.rows.clone()
}

// Wipe removes all content. [Table.Observe] does not see it.
func (t *Table) Wipe() { t.Restore(Snapshot{newRows()}) }

// Break makes the item of a record unreadable, whether it exists or not. It
// stays so until Restore or Wipe: a write to it is a conflict, since its
// revision is unknown.
func (t *Table) Break(key ownership.Key, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rows.records, key)
	t.rows.unreadable[key] = reason
}

// BreakCluster makes the entry of a cluster unreadable, whether it exists or
// not, as Break does with a record.
func (t *Table) BreakCluster(id, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rows.clusters, id)
	t.rows.unreadableClusters[id] = reason
}

// EditCluster changes the entry of a cluster as somebody may in the console:
// nothing is checked. The zero Cluster stands for one that is not there.
func (t *Table) EditCluster(id string, edit func(*ownership.Cluster)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	cluster := t.rows.clusters[id]
	edit(&cluster)
	t.rows.clusters[id] = cluster
}

// RemoveCluster deletes the entry of a cluster, as an operator does.
func (t *Table) RemoveCluster(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rows.clusters, id)
	delete(t.rows.unreadableClusters, id)
}

// clone shares the records' own maps, which nothing changes once they are in
// the table.
func (r rows) clone() rows {
	return rows{
		records:    maps.Clone(r.records),
		unreadable: maps.Clone(r.unreadable),
		clusters:   maps.Clone(r.clusters),
		history:    r.history,

		unreadableClusters: maps.Clone(r.unreadableClusters),
	}
}

// The DynamoDB item limit, 400 KB, and about what one target adds to an item
// beside its key. Near enough to have the same answer where it matters.
const (
	itemLimit      = 400 * 1024
	targetOverhead = 35
)

func checkSize(rec ownership.Record) error {
	size := 0
	for target := range rec.Held {
		size += len(target) + targetOverhead
	}
	for target := range rec.Releasing {
		size += len(target) + targetOverhead
	}
	if size > itemLimit {
		return fmt.Errorf("write %s: about %d bytes, the limit is %d: %w", rec.Owner, size, itemLimit, ownership.ErrTooLarge)
	}
	return nil
}

// checkRevision refuses a write that could never be told from others: a bug
// of the caller.
func checkRevision(next, seen ownership.Revision) error {
	if next.Version != seen.Version+1 || next.WriteID == "" || next.WriteID == seen.WriteID {
		return fmt.Errorf("revision %+v cannot follow %+v: the version goes up by one and the write ID is new", next, seen)
	}
	return nil
}
