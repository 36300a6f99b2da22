package ownership

import (
	"maps"
	"time"
)

// SchemaVersion is the version of the record format that this code writes.
// A record of a newer one is reported as [Unreadable].
const SchemaVersion = 1

// Record is what one owner says of its targets in one target group. Only the
// owner's own cluster writes it; everybody reads it.
type Record struct {
	Group      GroupARN
	Owner      Owner
	BindingUID string // UID of the binding object; a recreated binding is a new owner

	// Held are the targets that the owner has registered or is about to
	// register. Releasing are those it is about to deregister or is
	// deregistering. No target is in both. The value is the wall-clock time
	// of the entry, for people.
	Held      map[Target]time.Time
	Releasing map[Target]time.Time

	Revision
	UpdatedAt         time.Time // wall clock, for people
	ControllerVersion string
}

// Revision identifies one write of an item. The zero Revision is the item
// that does not exist.
type Revision struct {
	// Version goes up by one with every write.
	Version int64
	// WriteID is unique to the write. It lets a writer whose reply was lost
	// recognise its own write, and tells an item from one that was deleted
	// and written anew up to the same version.
	WriteID string
}

// Empty reports whether the record names no target.
func (r Record) Empty() bool { return len(r.Held) == 0 && len(r.Releasing) == 0 }

// Clone returns a copy that shares no map with r.
func (r Record) Clone() Record {
	r.Held, r.Releasing = maps.Clone(r.Held), maps.Clone(r.Releasing)
	if r.Held == nil {
		r.Held = map[Target]time.Time{}
	}
	if r.Releasing == nil {
		r.Releasing = map[Target]time.Time{}
	}
	return r
}

// Unreadable is a record that is there but cannot be understood. It may hold
// anything, so it blocks removals in its group.
type Unreadable struct {
	Owner  string // the range key as stored
	Reason string
}

// Records is one complete, strongly consistent reading of a target group.
type Records struct {
	Records    []Record
	Unreadable []Unreadable
}

// ClusterState is what operators want of a cluster.
type ClusterState string

// The states of a cluster.
const (
	ClusterActive  ClusterState = "Active"
	ClusterDrained ClusterState = "Drained" // its targets leave, its bindings stay
	ClusterRetired ClusterState = "Retired" // it is gone; should it return, it does not register
)

// Cluster is a cluster's entry in the registry.
type Cluster struct {
	ID          string
	Fingerprint string // UID of the kube-system namespace
	State       ClusterState

	// HeartbeatSeq goes up while the cluster's controller lives. Others judge
	// liveness by watching it on their own clocks; HeartbeatAt is for people.
	HeartbeatSeq int64
	HeartbeatAt  time.Time

	Revision
	ControllerVersion string
}
