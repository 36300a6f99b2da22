package readiness

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/controller/kind"
)

var _ binding.Gates = &Reconciler{}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// byPending is the index of the Pods that wait.
const (
	byPending = "readiness.pending"
	isPending = "true"
)

// SetupWithManager registers the reconciler with what makes a namespace worth a
// look: its Pods with gates, its bindings and what passes over them come to, and
// its Services.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, byPending, func(o client.Object) []string {
		if pod, ok := o.(*corev1.Pod); ok && len(pending(pod)) > 0 {
			return []string{isPending}
		}
		return nil
	})
	if err != nil {
		return err
	}
	build := ctrl.NewControllerManagedBy(mgr).Named("readiness-gates").
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(namespaceOf), builder.WithPredicates(r.Changed())).
		Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(namespaceOf), builder.WithPredicates(selectorChanged())).
		WatchesRawSource(source.Func(r.start))
	for _, s := range r.served {
		build.Watches(s.Kind.New(), handler.EnqueueRequestsFromMapFunc(namespaceOf), builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	return build.Complete(r)
}

func namespaceOf(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{ofNamespace(o.GetNamespace())}
}

func ofNamespace(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace}}
}

func (r *Reconciler) start(_ context.Context, q queue) error {
	r.queue = q
	close(r.wake)
	return nil
}

// Passed implements binding.Gates.
func (r *Reconciler) Passed(k kind.Kind, key client.ObjectKey, o *binding.Outcome) {
	r.board.put(k, key, o, r.clock.Now())
	select {
	case <-r.wake:
		r.queue.Add(ofNamespace(key.Namespace))
	default: // all Pods are looked at once the controller runs
	}
}

// Waits implements binding.Gates.
func (r *Reconciler) Waits(key client.ObjectKey, uid types.UID) endpoints.Waits {
	pod := &corev1.Pod{}
	err := r.client.Get(context.Background(), key, pod, client.UnsafeDisableDeepCopy)
	if err != nil || pod.UID != uid {
		return endpoints.Waits{} // the cache is behind, and tells when it has caught up
	}
	return waits(pod)
}

// Changed implements binding.Gates: Pods without gates of ours never matter.
func (r *Reconciler) Changed() predicate.Predicate {
	return predicate.And(
		predicate.NewPredicateFuncs(func(o client.Object) bool {
			pod, ok := o.(*corev1.Pod)
			return ok && len(gatesOf(pod)) > 0
		}),
		predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*corev1.Pod)
			after, ok2 := e.ObjectNew.(*corev1.Pod)
			return ok && ok2 && (before.UID != after.UID || waits(before) != waits(after) ||
				!slices.Equal(pending(before), pending(after)) || !equality.Semantic.DeepEqual(before.Labels, after.Labels))
		}},
	)
}

// Bindings implements binding.Gates.
func (r *Reconciler) Bindings(k kind.Kind) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		pod, ok := o.(*corev1.Pod)
		if !ok {
			return nil
		}
		all, err := r.bindings(ctx, r.client, pod.Namespace)
		if err != nil {
			log.FromContext(ctx).Error(err, "list bindings")
			return nil
		}
		var requests []reconcile.Request
		for _, b := range all {
			if b.Kind.Name == k.Name && r.bound(ctx, b, pod) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b)})
			}
		}
		return requests
	}
}

func (r *Reconciler) bound(ctx context.Context, b Binding, pod *corev1.Pod) bool {
	service, err := r.service(ctx, b)
	if err != nil && !apierrors.IsNotFound(err) {
		log.FromContext(ctx).Error(err, "get the service of a binding")
	}
	return slices.ContainsFunc(gatesOf(pod), func(t corev1.PodConditionType) bool { return b.Has(t, service) })
}

func selectorChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Service)
		after, ok2 := e.ObjectNew.(*corev1.Service)
		return ok && ok2 && !equality.Semantic.DeepEqual(before.Spec.Selector, after.Spec.Selector)
	}}
}
