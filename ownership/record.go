package ownership

import (
	"errors"
	"fmt"
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

	// Exclusive: the owner has the group for itself. It tells people and their
	// tools what the owner means to do; no rule of the protocol reads it.
	Exclusive bool

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

// Validate says what is wrong with a record: what readers would refuse must
// not be written.
func (r Record) Validate() error {
	if _, err := ParseGroupARN(string(r.Group)); err != nil {
		return err
	}
	if owner, err := ParseOwner(r.Owner.String()); err != nil || owner != r.Owner {
		return fmt.Errorf("owner %q is not a cluster, a namespace and a name", r.Owner)
	}
	if r.BindingUID == "" {
		return fmt.Errorf("the record of %s names no binding UID", r.Owner)
	}
	for _, entries := range []map[Target]time.Time{r.Held, r.Releasing} {
		for target := range entries {
			if _, err := ParseTarget(string(target)); err != nil {
				return err
			}
		}
	}
	for target := range r.Held {
		if _, both := r.Releasing[target]; both {
			return fmt.Errorf("target %s is both held and releasing", target)
		}
	}
	return nil
}

// Unreadable is an item that is there but cannot be understood. A record may
// hold anything then, so it blocks removals in its group.
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

// Known reports whether this version knows the state.
func (s ClusterState) Known() bool {
	return s == ClusterActive || s == ClusterDrained || s == ClusterRetired
}

// Cluster is a cluster's entry in the registry.
type Cluster struct {
	ID          string
	Fingerprint string // UID of the kube-system namespace
	// State is read back as it is stored, also if it is one that this version
	// does not know; such a state is never written.
	State ClusterState

	// HeartbeatSeq goes up while the cluster's controller lives. Others judge
	// liveness by watching it on their own clocks; HeartbeatAt is for people.
	HeartbeatSeq int64
	HeartbeatAt  time.Time

	Revision
	ControllerVersion string
}

// Validate says what is wrong with an entry: what readers would refuse, or
// would not know what to make of, must not be written.
func (c Cluster) Validate() error {
	if err := ValidateClusterID(c.ID); err != nil {
		return err
	}
	switch {
	case c.Fingerprint == "":
		return errors.New("the fingerprint is empty")
	case c.HeartbeatSeq < 0:
		return fmt.Errorf("the heartbeat is %d, below zero", c.HeartbeatSeq)
	case !c.State.Known():
		return fmt.Errorf("the state %q is unknown", c.State)
	}
	return nil
}

// Clusters is one complete, strongly consistent reading of the registry.
type Clusters struct {
	Clusters   []Cluster
	Unreadable []Unreadable
}
