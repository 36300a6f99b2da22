package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/ownership"
)

// +kubebuilder:rbac:groups="",resources=namespaces,resourceNames=kube-system,verbs=get

// fingerprint tells this cluster from every other one: the UID of the
// kube-system namespace, which lives as long as the cluster.
func fingerprint(ctx context.Context, live client.Reader) (string, error) {
	var namespace corev1.Namespace
	if err := live.Get(ctx, types.NamespacedName{Name: metav1.NamespaceSystem}, &namespace); err != nil {
		return "", fmt.Errorf("read the UID of namespace %s: %w", metav1.NamespaceSystem, err)
	}
	if namespace.UID == "" {
		return "", fmt.Errorf("read the UID of namespace %s: it has none", metav1.NamespaceSystem)
	}
	return string(namespace.UID), nil
}

// claim is this cluster's hold on its ID.
type claim struct {
	registry    Registry
	id          string
	fingerprint string
	version     string // of the controller
	newID       func() string

	entry ownership.Cluster // the zero Revision: there is none
	known bool              // entry is what the table holds, as far as we know

	onlyID bool // no other ID of this cluster has records
}

// Registry is the registry, and the index that tells which IDs have records.
type Registry interface {
	ownership.Registry
	Groups(ctx context.Context, clusterID string) ([]ownership.Key, error)
}

// writesPerRenewal is how often a renewal writes until it gives up. Besides
// us only operators write our entry, so that two conflicts in a row are rare.
const writesPerRenewal = 3

// renew claims the ID, or shows that the cluster still lives. It costs one
// write if nobody else has written the entry since the last renewal.
//
// It writes nothing and returns a [DuplicateIDError], [RenamedError],
// [RetiredError], [UnknownStateError] or [UnreadableEntryError] if the entry is
// not ours to use. Other errors wrap a class of package ownership; the next
// renewal starts from what the table holds by then.
func (c *claim) renew(ctx context.Context) (ownership.ClusterState, error) {
	for range writesPerRenewal {
		if err := c.vet(ctx); err != nil {
			return "", err
		}
		if ours, err := c.write(ctx); ours || err != nil {
			return c.entry.State, err
		}
	}
	return "", fmt.Errorf("entry of cluster %q keeps changing: %w", c.id, ownership.ErrConflict)
}

// vet reads what it does not know and says why the ID is not ours to use. It
// writes nothing.
func (c *claim) vet(ctx context.Context) error {
	if err := c.load(ctx); err != nil {
		return err
	}
	err := c.refusal()
	if err == nil {
		err = c.notRenamed(ctx)
	}
	if err != nil {
		c.known = false
	}
	return err
}

// notRenamed looks once, at the start, for another ID under which this cluster
// has records: the ID was changed, and their targets would be nobody's.
func (c *claim) notRenamed(ctx context.Context) error {
	if c.onlyID {
		return nil
	}
	read, err := c.registry.Clusters(ctx)
	if err != nil {
		return fmt.Errorf("look for other IDs of this cluster: %w", err)
	}
	for _, entry := range read.Clusters {
		if entry.ID == c.id || entry.Fingerprint != c.fingerprint || entry.State == ownership.ClusterRetired {
			continue
		}
		keys, err := c.registry.Groups(ctx, entry.ID)
		if err != nil {
			return fmt.Errorf("look for records of this cluster under the ID %q: %w", entry.ID, err)
		}
		if len(keys) > 0 {
			return &RenamedError{ID: c.id, Earlier: entry.ID}
		}
	}
	c.onlyID = true
	return nil
}

func (c *claim) load(ctx context.Context) error {
	if c.known {
		return nil
	}
	entry, err := c.registry.Cluster(ctx, c.id)
	switch {
	case errors.Is(err, ownership.ErrNotFound):
		entry = ownership.Cluster{ID: c.id, Fingerprint: c.fingerprint, State: ownership.ClusterActive}
	case errors.Is(err, ownership.ErrUnreadable):
		return &UnreadableEntryError{ID: c.id, Err: err}
	case err != nil:
		return fmt.Errorf("read the entry of cluster %q: %w", c.id, err)
	}
	c.entry, c.known = entry, true
	return nil
}

// refusal says why the entry is not ours to use. Whose it is comes first: the
// state of another cluster is no concern of ours.
func (c *claim) refusal() error {
	switch {
	case c.entry.Fingerprint != c.fingerprint:
		return &DuplicateIDError{ID: c.id, Ours: c.fingerprint, Theirs: c.entry.Fingerprint}
	case c.entry.State == ownership.ClusterRetired:
		return &RetiredError{ID: c.id}
	case !c.entry.State.Known():
		return &UnknownStateError{ID: c.id, State: c.entry.State}
	}
	return nil
}

// write bumps the heartbeat. After a conflict it reports whether the entry
// is our own write after all, one whose reply was lost.
func (c *claim) write(ctx context.Context) (ours bool, err error) {
	next := c.entry
	next.HeartbeatSeq++
	next.HeartbeatAt = time.Now()
	next.ControllerVersion = c.version
	next.Revision = ownership.Revision{Version: c.entry.Version + 1, WriteID: c.newID()}

	err = c.registry.PutCluster(ctx, next, c.entry.Revision)
	if err == nil {
		c.entry = next
		return true, nil
	}
	c.known = false
	if !errors.Is(err, ownership.ErrConflict) {
		return false, fmt.Errorf("write the entry of cluster %q: %w", c.id, err)
	}
	if err := c.load(ctx); err != nil {
		return false, err
	}
	return c.entry.Revision == next.Revision, nil
}
