package binding

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// Allowed says which namespaces may bind which target groups, with the role of
// that ARN or with none.
type Allowed interface {
	Allows(namespace string, group ownership.GroupARN, role string) bool
}

// permit refuses a binding that is not allowed and has nothing in the group. One
// that may have, as its finalizer says, goes on as far as its targets leave. A
// group that is known by its name only is asked about once its ARN is.
func (r *Reconciler) permit(b *round, group ownership.GroupARN) error {
	if r.Allowed == nil || group == "" || b.deleting() || r.Allowed.Allows(b.Namespace, group, b.Spec.IamRoleArnToAssume) {
		return nil
	}
	b.forbidden = notAllowed(b.TargetGroupBinding, group)
	if controllerutil.ContainsFinalizer(b, v1beta1.Finalizer) {
		return nil
	}
	return b.forbidden
}

// notAllowed says what is not allowed, and nothing of what other namespaces are.
func notAllowed(b *v1beta1.TargetGroupBinding, group ownership.GroupARN) error {
	with := ""
	if b.Spec.IamRoleArnToAssume != "" {
		with = " with role " + b.Spec.IamRoleArnToAssume
	}
	return &specError{v1beta1.ReasonNotAllowed, fmt.Sprintf("namespace %s may not bind target group %s%s: nothing is registered until an administrator of this controller allows it (--allowed-groups)", b.Namespace, group, with)}
}

// onlyHeld leaves of what is wanted what the binding holds already.
func (b *round) onlyHeld() {
	held := ownership.Set{}
	for t := range b.want {
		if b.state.ledger.Holds(t) {
			held[t] = true
		}
	}
	b.want = held
}
