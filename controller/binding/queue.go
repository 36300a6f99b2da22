package binding

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// queue is what the workers of a controller take bindings from.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// behind handles what concerns many bindings at once: they come after those that
// change meanwhile, as the ones that a start finds do. At the rate that AWS
// grants, a thousand bindings take minutes.
func behind[T any](of func(context.Context, T) []reconcile.Request) handler.TypedEventHandler[T, reconcile.Request] {
	return handler.TypedFuncs[T, reconcile.Request]{
		GenericFunc: func(ctx context.Context, e event.TypedGenericEvent[T], q queue) {
			q.(priorityqueue.PriorityQueue[reconcile.Request]).AddWithOpts(
				priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, of(ctx, e.Object)...)
		},
	}
}
