package cluster

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"target-ownership-controller/ownership"
)

// NotClaimedError says that the cluster ID has not been claimed yet. Err is
// nil before the first answer, and else wraps an error class of package
// ownership or the error of the Kubernetes API. The claim is retried.
type NotClaimedError struct {
	ID  string
	Err error
}

func (e *NotClaimedError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("cluster ID %q is not claimed in the ownership table yet", e.ID)
	}
	return fmt.Sprintf("cluster ID %q cannot be claimed in the ownership table: %v%s", e.ID, e.Err, advice(e.Err))
}

// Unwrap returns why the claim failed.
func (e *NotClaimedError) Unwrap() error { return e.Err }

func (e *NotClaimedError) class() string {
	for _, c := range tableAdvice {
		if errors.Is(e.Err, c.class) {
			return "not claimed: " + c.class.Error()
		}
	}
	return fmt.Sprintf("not claimed: failed %t", e.Err != nil)
}

var tableAdvice = []struct {
	class  error
	advice string
}{
	{ownership.ErrTableMissing, "create the table, or correct the table name or region that the controller was given"},
	{ownership.ErrTableCreating, "nothing to do but wait until the table is active"},
	{ownership.ErrForbidden, "give the controller's IAM role its permissions on the table"},
	{ownership.ErrThrottled, "nothing to do unless it lasts; then raise the table's capacity"},
	{ownership.ErrUnavailable, "check the network path to DynamoDB, and the region or endpoint that the controller was given"},
}

func advice(err error) string {
	for _, c := range tableAdvice {
		if errors.Is(err, c.class) {
			return "; " + c.advice
		}
	}
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
		" choose another --cluster-id for one of the two, or, if the other cluster is gone for good"+
		" (the attribute heartbeatAt of its entry stands still), remove its entry from the ownership table",
		e.ID, e.Theirs, e.Ours)
}

func (e *DuplicateIDError) class() string { return "duplicate ID of " + e.Theirs }

// RetiredError says that an operator has retired this cluster. It reconciles
// nothing until its state in the registry is Active again.
type RetiredError struct{ ID string }

func (e *RetiredError) Error() string {
	return fmt.Sprintf("cluster %q is retired: it registers no targets; if it is to serve again, set its state in the ownership table to %s",
		e.ID, ownership.ClusterActive)
}

func (e *RetiredError) class() string { return "retired" }

// UnknownStateError says that our entry has a state that this version does
// not know, so that what an operator wants of the cluster is unknown.
type UnknownStateError struct {
	ID    string
	State ownership.ClusterState
}

func (e *UnknownStateError) Error() string {
	return fmt.Sprintf("cluster %q has the unknown state %q in the ownership table: upgrade this controller, or set the state to %s",
		e.ID, e.State, ownership.ClusterActive)
}

func (e *UnknownStateError) class() string { return "unknown state " + string(e.State) }

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
