package binding

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/endpoints"
)

// +kubebuilder:rbac:groups=elbv2.k8s.aws,resources=targetgroupbindings,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=elbv2.k8s.aws,resources=targetgroupbindings/status,verbs=patch
// +kubebuilder:rbac:groups=ownership.elbv2.k8s.aws,resources=sharedtargetgroupbindings,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=ownership.elbv2.k8s.aws,resources=sharedtargetgroupbindings/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// byService is the index of bindings by the name of their Service.
const byService = "spec.serviceRef.name"

// SetupWithManager registers the reconciler with what makes a binding worth
// another pass: itself, its Service, its slices, nodes for instance targets,
// Pods that wait for their targets, the gate, and the end of an outage.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, workers int, gate <-chan cluster.GateEvent) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, r.Kind.New(), byService, func(o client.Object) []string {
		return []string{r.Kind.Binding(o).Spec.ServiceRef.Name}
	})
	if err != nil {
		return err
	}
	build := ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(r.Kind.Name)).
		For(r.Kind.New(), builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, policyChanged()))).
		Watches(&corev1.Service{}, handler.EnqueueRequestsFromMapFunc(r.ofService), builder.WithPredicates(endpoints.ServiceChanged())).
		Watches(&discoveryv1.EndpointSlice{}, handler.EnqueueRequestsFromMapFunc(r.ofSlice), builder.WithPredicates(endpoints.SliceChanged())).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.ofNodes), builder.WithPredicates(endpoints.NodeChanged())).
		WatchesRawSource(source.Channel(gate, behind(r.ofGate))).
		WatchesRawSource(source.Channel(r.Wakes(), behind(r.ofWakeUp))).
		WithOptions(controller.Options{
			UsePriorityQueue:        new(true), // behind needs it
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, maxRetry),
		})
	if r.AllowedChanged != nil {
		build.WatchesRawSource(source.Channel(r.AllowedChanged, behind(r.ofRules)))
	}
	if r.Gates != nil {
		build.Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.Gates.Bindings(r.Kind)), builder.WithPredicates(r.Gates.Changed()))
	}
	return build.Complete(r)
}

func (r *Reconciler) ofService(ctx context.Context, o client.Object) []reconcile.Request {
	return r.listOf(ctx, client.ObjectKeyFromObject(o))
}

func (r *Reconciler) ofSlice(ctx context.Context, o client.Object) []reconcile.Request {
	return r.listOf(ctx, endpoints.ServiceOf(o))
}

func (r *Reconciler) listOf(ctx context.Context, service client.ObjectKey) []reconcile.Request {
	return r.list(ctx, nil, client.InNamespace(service.Namespace), client.MatchingFields{byService: service.Name})
}

// ofNodes leaves out the bindings that are known to have no use for the node:
// those of addresses, unless it shuts down.
func (r *Reconciler) ofNodes(ctx context.Context, o client.Object) []reconcile.Request {
	node, ok := o.(*corev1.Node)
	shutsDown := ok && endpoints.ShuttingDown(node)
	return r.list(ctx, func(b client.Object) bool {
		st := r.states.get(client.ObjectKeyFromObject(b))
		return shutsDown || st == nil || st.group.TargetType == string(v1beta1.TargetTypeInstance)
	})
}

func (r *Reconciler) ofGate(ctx context.Context, _ *cluster.Gate) []reconcile.Request {
	return r.list(ctx, nil)
}

func (r *Reconciler) ofRules(ctx context.Context, _ struct{}) []reconcile.Request {
	return r.list(ctx, nil)
}

// Wakes delivers the bindings that wait no longer for a service to recover.
func (r *Reconciler) Wakes() <-chan WakeUp { return r.outages.wakes }

func (r *Reconciler) ofWakeUp(_ context.Context, key client.ObjectKey) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: key}}
}

func (r *Reconciler) list(ctx context.Context, match func(client.Object) bool, opts ...client.ListOption) []reconcile.Request {
	bindings := r.Kind.NewList()
	if err := r.Client.List(ctx, bindings, opts...); err != nil {
		// The cache answers or the process is on its way out.
		ctrl.LoggerFrom(ctx).Error(err, "list bindings")
		return nil
	}
	var requests []reconcile.Request
	for _, b := range r.Kind.Items(bindings) {
		if match == nil || match(b) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b)})
		}
	}
	return requests
}
