package managed

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/controller/kind"
)

// Retries after errors start at firstRetry and double up to maxRetry.
const (
	firstRetry = 200 * time.Millisecond
	maxRetry   = 30 * time.Second
)

// byOwner is the index of managed bindings by the UIDs of their owners.
const byOwner = "managed.owner"

// Setup registers the reconcilers of Services and of Ingresses.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, o.Kind.New(), byOwner, ownersOf); err != nil {
		return err
	}
	ofServices, build := o.build(mgr, services, "managed-services", endpoints.ServiceChanged())
	if err := build.Complete(ofServices); err != nil {
		return err
	}
	ofIngresses, build := o.build(mgr, ingresses, "managed-ingresses", predicate.GenerationChangedPredicate{})
	return build.
		Watches(&networkingv1.IngressClass{}, handler.EnqueueRequestsFromMapFunc(ofIngresses.ofClass), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(ofIngresses.ofService), builder.WithPredicates(endpoints.ServiceChanged())).
		Complete(ofIngresses)
}

func ownersOf(o client.Object) []string {
	if o.GetLabels()[ManagedLabel] != "true" {
		return nil
	}
	var owners []string
	for _, ref := range o.GetOwnerReferences() {
		owners = append(owners, string(ref.UID))
	}
	return owners
}

// build begins the controller of a kind of owners that name target groups, or
// did before the update, and of the bindings that they have or want.
func (o Options) build(mgr ctrl.Manager, of owners, name string, changed predicate.Predicate) (*Reconciler, *builder.Builder) {
	r := newReconciler(o, of)
	return r, ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(of.empty(), builder.WithPredicates(speaks(), predicate.Or(changed, annotationsChanged()))).
		Watches(o.Kind.New(), handler.EnqueueRequestsFromMapFunc(r.ofBinding), builder.WithPredicates(bindingChanged(o.Kind))).
		WithOptions(controller.Options{
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, maxRetry),
		})
}

// speaks lets through objects that name target groups or did before. One that
// ended to while no controller ran is found by its bindings.
func speaks() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return groupsText(e.Object) != "" },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return groupsText(e.ObjectOld) != "" || groupsText(e.ObjectNew) != ""
		},
	}
}

func annotationsChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()) ||
			!e.ObjectOld.GetDeletionTimestamp().Equal(e.ObjectNew.GetDeletionTimestamp())
	}}
}

// bindingChanged leaves out the updates of a binding that its owners have
// nothing to do about, such as counts of targets.
func bindingChanged(k kind.Kind) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := k.Binding(e.ObjectOld), k.Binding(e.ObjectNew)
		return before.Generation != after.Generation ||
			!maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
			!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
			reasonOf(before) != reasonOf(after) || ready(before) != ready(after)
	}}
}

func reasonOf(b *v1beta1.TargetGroupBinding) string {
	c := meta.FindStatusCondition(b.Status.Conditions, string(v1beta1.ConditionReady))
	if c == nil {
		return ""
	}
	return string(c.Status) + c.Reason
}

// ofBinding finds the owners of a binding. One that has none of this kind may
// have lost them, or have the name of one that is wanted.
func (r *Reconciler) ofBinding(ctx context.Context, o client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, ref := range o.GetOwnerReferences() {
		if ref.Kind == r.of.gvk.Kind && ref.APIVersion == r.of.gvk.GroupVersion().String() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name}})
		}
	}
	if len(requests) > 0 {
		return requests
	}
	return r.askingAbout(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: r.Kind.Binding(o).Spec.ServiceRef.Name})
}

func (r *Reconciler) ofService(ctx context.Context, s client.Object) []reconcile.Request {
	return r.askingAbout(ctx, client.ObjectKeyFromObject(s))
}

func (r *Reconciler) ofClass(ctx context.Context, class client.Object) []reconcile.Request {
	return r.those(ctx, func(o client.Object) bool { return classOf(o.(*networkingv1.Ingress)) == class.GetName() })
}

// askingAbout finds what may ask for bindings of a Service.
func (r *Reconciler) askingAbout(ctx context.Context, service client.ObjectKey) []reconcile.Request {
	return r.those(ctx, func(o client.Object) bool { return asksAbout(o, service.Name) }, client.InNamespace(service.Namespace))
}

func asksAbout(owner client.Object, service string) bool {
	i, isIngress := owner.(*networkingv1.Ingress)
	if !isIngress {
		return owner.GetName() == service
	}
	return slices.ContainsFunc(backendsOf(i), func(b backend) bool { return b.service == service })
}

// those lists the objects that name target groups and match.
func (r *Reconciler) those(ctx context.Context, match func(client.Object) bool, opts ...client.ListOption) []reconcile.Request {
	var requests []reconcile.Request
	list := r.of.list()
	err := r.Client.List(ctx, list, opts...)
	if err == nil {
		err = meta.EachListItem(list, func(item runtime.Object) error {
			if o := item.(client.Object); groupsText(o) != "" && match(o) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
			}
			return nil
		})
	}
	if err != nil {
		// The cache answers or the process is on its way out.
		ctrl.LoggerFrom(ctx).Error(err, "list objects with annotations")
	}
	return requests
}
