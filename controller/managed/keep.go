package managed

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/policy"
)

// keep creates a wanted binding or repairs it. It returns nil for a binding that
// is not there yet, or goes.
func (r *Reconciler) keep(ctx context.Context, owner client.Object, w Wanted) (*v1beta1.TargetGroupBinding, *Problem, error) {
	o := r.Kind.New()
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: owner.GetNamespace(), Name: w.Name()}, o)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil, r.create(ctx, owner, w)
	case err != nil:
		return nil, nil, err
	case !ours(o, owner):
		return nil, taken(r.Kind.Name, w), nil
	case !o.GetDeletionTimestamp().IsZero():
		return nil, nil, nil // once it is gone, a new one is made
	}
	before := o.DeepCopyObject().(client.Object)
	b := r.Kind.Binding(o)
	problem := unready(b)
	join(o, reference(owner, r.of.gvk))
	if metav1.IsControlledBy(o, owner) {
		w.into(b, owner)
	} else if d := disagreement(b, w, owner); d != nil {
		problem = d
	}
	return b, problem, r.patch(ctx, before, o)
}

func (r *Reconciler) create(ctx context.Context, owner client.Object, w Wanted) error {
	o := r.Kind.New()
	o.SetNamespace(owner.GetNamespace())
	o.SetName(w.Name())
	join(o, reference(owner, r.of.gvk))
	w.into(r.Kind.Binding(o), owner)
	if err := r.Client.Create(ctx, o); err != nil {
		return err
	}
	log.FromContext(ctx).Info("binding created", "binding", w.Name(), "service", w.Service, "port", w.Port.String(), "group", w.Group)
	r.tell(owner, ReasonBindingCreated, w.Name(), fmt.Sprintf("%s %s puts port %s of Service %s into target group %s",
		r.Kind.Name, w.Name(), w.Port.String(), w.Service, w.groupName()))
	return nil
}

// patch makes one call if there is a difference, and none that overwrites what
// somebody else has changed meanwhile.
func (r *Reconciler) patch(ctx context.Context, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return r.Client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// into writes what is wanted into a binding. Fields that the annotation does
// not speak of stay: defaults are written there, and cannot be changed.
func (w Wanted) into(b *v1beta1.TargetGroupBinding, owner client.Object) {
	metav1.SetMetaDataLabel(&b.ObjectMeta, ManagedLabel, "true")
	// What somebody else set as a policy goes: the owner speaks of all of them.
	maps.DeleteFunc(b.Annotations, func(name, _ string) bool { return policy.Is(name) })
	for name, value := range policy.Of(owner.GetAnnotations()) {
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, name, value)
	}
	if w.byARN() {
		b.Spec.TargetGroupARN = w.Group
	} else {
		b.Spec.TargetGroupName = w.Group
	}
	b.Spec.MultiClusterTargetGroup = true
	b.Spec.ServiceRef = v1beta1.ServiceReference{Name: w.Service, Port: w.Port}
	b.Spec.NodeSelector = w.NodeSelector
	if w.TargetType != nil {
		b.Spec.TargetType = w.TargetType
	}
}

// boundGroup is the name of the group of a binding.
func boundGroup(b *v1beta1.TargetGroupBinding) string {
	return named{Group: cmp.Or(b.Spec.TargetGroupARN, b.Spec.TargetGroupName)}.groupName()
}

func (w Wanted) bindsPortOf(b *v1beta1.TargetGroupBinding) bool {
	return b.Spec.ServiceRef == v1beta1.ServiceReference{Name: w.Service, Port: w.Port}
}
