package binding

import (
	"context"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// Describe is the group that a new binding means, if its namespace may bind it.
// Errors are those that the condition Ready would name.
func (r *Reconciler) Describe(ctx context.Context, made *v1beta1.TargetGroupBinding) (elb.Group, error) {
	if err := r.supported(made); err != nil {
		return elb.Group{}, err
	}
	b := &round{TargetGroupBinding: made.DeepCopy(), kind: r.Kind}
	b.Finalizers = nil // whoever makes it may have written ours there, as if it were bound
	return r.lookUp(ctx, b, ref(made))
}

// lookUp finds the group of a binding, which may not be told of one that it may
// not bind. One that is named by its ARN is not even asked for before.
func (r *Reconciler) lookUp(ctx context.Context, b *round, ref reference) (elb.Group, error) {
	if ref.ARN != "" {
		if err := r.permit(ctx, b, ownership.GroupARN(ref.ARN)); err != nil {
			return elb.Group{}, err
		}
		return r.group(ctx, b, ref)
	}
	group, err := r.group(ctx, b, ref)
	if err != nil {
		return elb.Group{}, err
	}
	return group, r.permit(ctx, b, group.ARN)
}
