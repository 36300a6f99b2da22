package managed

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/api/v1beta1"
)

// errBehind says that the caches are not up to date.
var errBehind = errors.New("the caches are behind the API server")

// bindings are those that an owner asks for, by name; nil for one that is not
// there yet.
type bindings map[string]*v1beta1.TargetGroupBinding

// apply makes the bindings of an owner what it asks for, and returns what
// stands in the way.
func (r *Reconciler) apply(ctx context.Context, owner client.Object, request Request) ([]Problem, error) {
	problems := slices.Clone(request.Problems)
	kept := bindings{}
	var errs []error
	for _, w := range request.Bindings {
		b, problem, err := r.keep(ctx, owner, w)
		if refused(err) {
			problem = refusal(w, err)
		}
		if problem != nil {
			problems = append(problems, *problem)
		}
		kept[w.Name()] = b
		errs = append(errs, err)
	}
	if !request.Unsure {
		errs = append(errs, r.clear(ctx, owner, request, kept))
	}
	return problems, errors.Join(errs...)
}

// clear takes the owner from the bindings that it no longer asks for.
func (r *Reconciler) clear(ctx context.Context, owner client.Object, request Request, kept bindings) error {
	list := r.Kind.NewList()
	err := r.Client.List(ctx, list, client.InNamespace(owner.GetNamespace()), client.MatchingFields{byOwner: string(owner.GetUID())})
	if err != nil {
		return err
	}
	surplus := slices.DeleteFunc(r.Kind.Items(list), func(o client.Object) bool {
		_, wanted := kept[o.GetName()]
		return wanted || !o.GetDeletionTimestamp().IsZero() || r.waits(o, request.Bindings, kept)
	})
	if len(surplus) == 0 {
		return nil
	}
	if err := r.confirm(ctx, owner, request); err != nil {
		return err
	}
	var errs []error
	for _, o := range surplus {
		errs = append(errs, r.leave(ctx, owner, o))
	}
	return errors.Join(errs...)
}

// waits reports whether a binding that is no longer asked for stays until
// another one of the same group, or of the same port, has its targets: they
// are in a group at every moment.
func (r *Reconciler) waits(o client.Object, wanted []Wanted, kept bindings) bool {
	b := r.Kind.Binding(o)
	return slices.ContainsFunc(wanted, func(w Wanted) bool {
		return (w.groupName() == boundGroup(b) || w.bindsPortOf(b)) && !ready(kept[w.Name()])
	})
}

// confirm reads around the caches that the owner asks for what the caches say.
// After a change of the leader they may show it without what it has had since.
func (r *Reconciler) confirm(ctx context.Context, owner client.Object, request Request) error {
	live := r.of.empty()
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(owner), live); apierrors.IsNotFound(err) {
		return errBehind
	} else if err != nil {
		return err
	}
	now, err := r.of.request(ctx, r.Live, live)
	if err != nil {
		return err
	}
	if live.GetUID() != owner.GetUID() || !reflect.DeepEqual(now, request) {
		return errBehind
	}
	return nil
}

// leave ends that the owner asks for a binding, and with the last one the
// binding.
func (r *Reconciler) leave(ctx context.Context, owner, o client.Object) error {
	before := o.DeepCopyObject().(client.Object)
	if part(o, owner) {
		return r.patch(ctx, before, o)
	}
	err := r.Client.Delete(ctx, o, client.Preconditions{UID: new(o.GetUID()), ResourceVersion: new(o.GetResourceVersion())})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	log.FromContext(ctx).Info("binding deleted", "binding", o.GetName())
	r.tell(owner, ReasonBindingDeleted, o.GetName(), fmt.Sprintf("%s %s is no longer asked for", r.Kind.Name, o.GetName()))
	return nil
}
