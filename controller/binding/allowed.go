package binding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/allow"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// Allowed says which namespaces may bind which target groups, with the role of
// that ARN or with none. An error says that this is unknown, since the tags of
// the group decide and cannot be read.
type Allowed interface {
	Allows(namespace string, group ownership.GroupARN, role string, tags allow.Tags) (bool, error)
}

// permit refuses a binding that is not allowed, or not known to be, and has
// nothing in the group. One that may have, as its finalizer says, goes on as far
// as its targets leave.
func (r *Reconciler) permit(ctx context.Context, b *round, group ownership.GroupARN) error {
	if r.Allowed == nil || b.deleting() {
		return nil
	}
	allowed, err := r.Allowed.Allows(b.Namespace, group, b.Spec.IamRoleArnToAssume, r.tags(ctx, b, group))
	switch {
	case errors.Is(err, ownership.ErrGroupMissing):
		return fmt.Errorf("%s: %w", refField(b.TargetGroupBinding), err)
	case err != nil:
		b.forbidden = fmt.Errorf("whether namespace %s may bind target group %s is not known, and until then nothing more is registered: %w", b.Namespace, group, err)
	case !allowed:
		b.forbidden = notAllowed(b.TargetGroupBinding, group)
	}
	if controllerutil.ContainsFinalizer(b, v1beta1.Finalizer) {
		return nil
	}
	return b.forbidden
}

// tags are read once a period, and the binding comes again when they are to be
// read again.
func (r *Reconciler) tags(ctx context.Context, b *round, group ownership.GroupARN) allow.Tags {
	return func() (map[string]string, error) {
		found, err := r.as(role(b.TargetGroupBinding)).Tags(ctx, group, r.ComparePeriod)
		if err == nil {
			b.tagsUntil = found.Read.Add(r.ComparePeriod)
		}
		return found.Values, err
	}
}

// untilTags is a wait that does not outlast the tags that were read.
func (r *Reconciler) untilTags(b *round, wait time.Duration) time.Duration {
	if b.tagsUntil.IsZero() {
		return wait
	}
	return max(min(wait, b.tagsUntil.Sub(r.Clock.Now())), time.Millisecond)
}

// unsure reports whether it is unknown if the binding is allowed.
func (b *round) unsure() bool {
	return b.forbidden != nil && explain(b.forbidden) != v1beta1.ReasonNotAllowed
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
