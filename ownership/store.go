package ownership

import (
	"context"
	"errors"
)

// Store keeps records. Every write is one conditional write of one item, and
// every read that decides something is strongly consistent and complete.
//
// Errors wrap one of the Err values below; an error that wraps none of them
// is treated like [ErrUnavailable].
type Store interface {
	// Records returns every record of the group. It never returns a part of
	// them: a listing that breaks off is an error.
	Records(ctx context.Context, group GroupARN) (Records, error)

	// Put writes next, which has to be valid, if the stored item is at revision
	// seen; the zero Revision demands that there is none. next.Version is
	// seen.Version+1.
	Put(ctx context.Context, next Record, seen Revision) error

	// Delete removes the record if it is at the revision of rec. To delete a
	// record that is not there is a conflict.
	Delete(ctx context.Context, rec Record) error

	// Groups lists the groups in which the cluster may have records. It is
	// read from an index, and so a hint.
	Groups(ctx context.Context, clusterID string) ([]Key, error)
}

// Key names a record.
type Key struct {
	Group GroupARN
	Owner Owner
}

// Registry keeps the clusters, in the same table as the records.
type Registry interface {
	// Cluster reads one entry, strongly consistent; ErrNotFound if there is
	// none, ErrUnreadable if it cannot be understood. A state that this
	// version does not know is no error.
	Cluster(ctx context.Context, id string) (Cluster, error)

	// Clusters reads all entries, strongly consistent. One that cannot be
	// understood hides no other.
	Clusters(ctx context.Context) (Clusters, error)

	// PutCluster writes next, which has to be valid, if the stored entry is at
	// revision seen, as Store.Put does.
	PutCluster(ctx context.Context, next Cluster, seen Revision) error
}

// The classes of errors of a store.
var (
	// ErrConflict: the condition of a write did not hold.
	ErrConflict = errors.New("the record has changed in the table")
	// ErrNotFound: no such item.
	ErrNotFound = errors.New("not found in the table")
	// ErrUnreadable: the item is there and cannot be understood.
	ErrUnreadable = errors.New("the entry cannot be read")
	// ErrThrottled: the table refused the call for now; it was not applied.
	ErrThrottled = errors.New("the table is throttling")
	// ErrForbidden: the identity lacks a permission; the call was not applied.
	ErrForbidden = errors.New("access to the table is denied")
	// ErrTableMissing: there is no such table, or it lacks what we need.
	ErrTableMissing = errors.New("the table does not exist")
	// ErrReplicated: other regions write to the table too, so that its
	// conditions decide nothing.
	ErrReplicated = errors.New("it is a global table")
	// ErrTableCreating: the table exists and is not ready yet.
	ErrTableCreating = errors.New("the table is not active yet")
	// ErrTooLarge: the record would exceed the item size limit.
	ErrTooLarge = errors.New("the record is too large for the table")
	// ErrUnavailable: no usable answer. A write may have been applied.
	ErrUnavailable = errors.New("the table is unreachable")
)
