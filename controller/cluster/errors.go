package cluster

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"target-ownership-controller/ownership"
)

// NotClaimedError says that the cluster ID has not been claimed yet, or that
// the claim has lapsed. Err is nil before the first answer, and else wraps an
// error class of package ownership or the error of the Kubernetes API. The
// claim is retried.
type NotClaimedError struct {
	ID  string
	Err error
	// Lapsed is for how long a claim counts that has not been renewed; zero
	// if the ID has not been claimed since the start.
	Lapsed time.Duration
}

func (e *NotClaimedError) Error() string {
	switch {
	case e.Lapsed > 0 && e.Err == nil:
		return fmt.Sprintf("cluster ID %q has not been confirmed in the ownership table for more than %s", e.ID, e.Lapsed)
	case e.Lapsed > 0:
		return fmt.Sprintf("cluster ID %q has not been confirmed in the ownership table for more than %s: %v%s", e.ID, e.Lapsed, e.Err, advice(e.Err))
	case e.Err == nil:
		return fmt.Sprintf("cluster ID %q is not claimed in the ownership table yet", e.ID)
	default:
		return fmt.Sprintf("cluster ID %q cannot be claimed in the ownership table: %v%s", e.ID, e.Err, advice(e.Err))
	}
}

// Unwrap returns why the claim failed.
func (e *NotClaimedError) Unwrap() error { return e.Err }

func (e *NotClaimedError) class() string {
	return fmt.Sprintf("not claimed: lapsed %t, %s", e.Lapsed > 0, causeOf(e.Err))
}

// causeOf names the cause of a failure, the same for all that differ in
// details only.
func causeOf(err error) string {
	if c, ok := errors.AsType[closure](err); ok {
		return c.class()
	}
	for _, class := range tableClasses {
		if errors.Is(err, class) {
			return class.Error()
		}
	}
	return fmt.Sprintf("failed %t, forbidden %t", err != nil, apierrors.IsForbidden(err))
}

// tableClasses are the ways in which the table can fail. What to do is in the
// errors of the store.
var tableClasses = []error{
	ownership.ErrTableMissing, ownership.ErrTableCreating, ownership.ErrForbidden, ownership.ErrThrottled,
	ownership.ErrUnavailable, ownership.ErrConflict,
}

// advice is for errors of the Kubernetes API.
func advice(err error) string {
	if apierrors.IsForbidden(err) {
		return "; give the controller's service account the permission"
	}
	return ""
}

// DuplicateIDError says that another cluster is registered with our ID. This
// one reconciles nothing. Its message is the same as long as the conflict is:
// it becomes a condition of every binding, and times would change it with
// every retry.
type DuplicateIDError struct {
	ID string
	// Ours and Theirs are the UIDs of the kube-system namespaces.
	Ours, Theirs string
}

func (e *DuplicateIDError) Error() string {
	return fmt.Sprintf("cluster ID %q belongs to another cluster: its kube-system namespace has the UID %s, ours %s;"+
		" choose another --cluster-id for one of the two, or, if the other cluster is gone for good, take its targets out by targetctl cluster retire %s,"+
		" which is refused while that cluster runs, and then remove its entry from the ownership table (%s)",
		e.ID, e.Theirs, e.Ours, e.ID, keyOf(e.ID))
}

// keyOf is the key of a cluster's entry in the table, for people who are to
// find it there.
func keyOf(id string) string { return fmt.Sprintf("targetGroup=cluster, owner=%s", id) }

func (e *DuplicateIDError) class() string { return "duplicate ID of " + e.Theirs }

// RetiredError says that an operator has retired this cluster. It reconciles
// nothing until its state in the registry is Active again.
type RetiredError struct{ ID string }

func (e *RetiredError) Error() string {
	return fmt.Sprintf("cluster %q is retired: it registers no targets; if it is to serve again: targetctl cluster undrain %s", e.ID, e.ID)
}

func (e *RetiredError) class() string { return "retired" }

// UnknownStateError says that our entry has a state that this version does
// not know, so that what an operator wants of the cluster is unknown.
type UnknownStateError struct {
	ID    string
	State ownership.ClusterState
}

func (e *UnknownStateError) Error() string {
	return fmt.Sprintf("cluster %q has the unknown state %q in the ownership table: upgrade this controller, or set the state of its entry (%s) to %s",
		e.ID, e.State, keyOf(e.ID), ownership.ClusterActive)
}

func (e *UnknownStateError) class() string { return "unknown state " + string(e.State) }

// UnreadableEntryError says that our entry is there and cannot be understood,
// so that nobody knows whose it is. Err says why, and wraps
// [ownership.ErrUnreadable].
type UnreadableEntryError struct {
	ID  string
	Err error
}

func (e *UnreadableEntryError) Error() string {
	return fmt.Sprintf("the entry of cluster %q in the ownership table (%s) cannot be understood: %v; upgrade this controller, or repair the entry",
		e.ID, keyOf(e.ID), e.Err)
}

// Unwrap returns the error of the table.
func (e *UnreadableEntryError) Unwrap() error { return e.Err }

func (e *UnreadableEntryError) class() string { return "unreadable entry" }

// RenamedError says that this cluster is registered under another ID too, and
// has records under it that nobody would look after if it took the new one.
type RenamedError struct {
	ID      string // that we were given
	Earlier string // that the records are under
}

func (e *RenamedError) Error() string {
	return fmt.Sprintf("this cluster is registered in the ownership table as %q and has targets under that ID, which --cluster-id=%s would leave behind in their target groups;"+
		" set --cluster-id back to %q, unless that is another cluster, of which this one is a copy; or, if the ID has to change, retire the old one by targetctl cluster retire %s:"+
		" its healthy targets stay in their groups, and once this cluster holds them, targetctl release --cluster %s --force removes the records under the old ID",
		e.Earlier, e.ID, e.Earlier, e.Earlier, e.Earlier)
}

func (e *RenamedError) class() string { return "renamed from " + e.Earlier }

// LoadBalancerControllerError says that the AWS Load Balancer Controller runs
// in this cluster, or may run.
type LoadBalancerControllerError struct {
	Lease  types.NamespacedName
	Holder string // identity of its leader: pod name and a suffix
	// Renewing is true once we saw the lease being renewed. Before that it is
	// held, and we have not watched it for long enough to call it left over.
	Renewing bool
	// Idle is for how long the lease has to stay unchanged.
	Idle time.Duration
}

func (e *LoadBalancerControllerError) Error() string {
	if !e.Renewing {
		return fmt.Sprintf("the AWS Load Balancer Controller may be running: its lease %s is held by %s;"+
			" waiting until the lease has stayed unchanged for %s", e.Lease, e.Holder, e.Idle)
	}
	return fmt.Sprintf("the AWS Load Balancer Controller is running: its lease %s is being renewed by %s,"+
		" and two controllers must not reconcile the same TargetGroupBindings;"+
		" it has no setting to leave them alone, so scale its Deployment in namespace %s to 0 replicas;"+
		" this controller starts by itself %s after the last renewal", e.Lease, e.Holder, e.Lease.Namespace, e.Idle)
}

func (e *LoadBalancerControllerError) class() string {
	return fmt.Sprintf("load balancer controller %s renewing %t", e.Lease, e.Renewing)
}

// LeaseUnreadableError says that nobody knows whether the AWS Load Balancer
// Controller runs. Err is nil before the first answer.
type LeaseUnreadableError struct{ Err error }

func (e *LeaseUnreadableError) Error() string {
	if e.Err == nil {
		return "not checked yet whether the AWS Load Balancer Controller is running"
	}
	return fmt.Sprintf("cannot tell whether the AWS Load Balancer Controller is running: %v%s", e.Err, advice(e.Err))
}

// Unwrap returns the error of the Kubernetes API.
func (e *LeaseUnreadableError) Unwrap() error { return e.Err }

func (e *LeaseUnreadableError) class() string {
	return fmt.Sprintf("lease unreadable: failed %t, forbidden %t", e.Err != nil, apierrors.IsForbidden(e.Err))
}
