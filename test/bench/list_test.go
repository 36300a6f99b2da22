package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/simulation"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/peer"
)

// lists is a controller that keeps one list of targets for each binding, or
// none at all: it lists the group in every pass, deregisters, writes the list,
// registers, and writes two annotations of the binding, as test/peer describes.
type lists struct {
	client  client.Client
	group   peer.Group
	binding client.ObjectKey
	method  simulation.Reconciler // nil: no list
	passes  int
}

// runLists starts the controller of a side, with or without the list.
func runLists(tracks bool) func(*testing.B, *side) {
	return func(b *testing.B, s *side) {
		b.Helper()
		mgr := s.manager(b)
		l := &lists{
			client: mgr.GetClient(), binding: client.ObjectKey{Namespace: s.namespace, Name: service},
			group: peer.Group{Client: s.elbClient(), ARN: s.group},
		}
		if tracks {
			l.method = peer.Method{SkipUnchanged: true}.Start(simulation.Env{
				Now: time.Now, Group: l.group, List: peer.List{Live: mgr.GetAPIReader(), Client: mgr.GetClient(), Binding: l.binding},
			})
		}
		toBinding := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: l.binding}}
		})
		err := builder.ControllerManagedBy(mgr).Named(s.name).Watches(&discoveryv1.EndpointSlice{}, toBinding).Complete(l)
		if err != nil {
			b.Fatal(err)
		}
		kube.Run(b, mgr)
	}
}

// Reconcile makes one pass.
func (l *lists) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	want, err := l.want(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if l.method == nil {
		err = l.group.Becomes(want)
	} else {
		_, err = l.method.Reconcile(ctx, simulation.Binding{Want: want})
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, l.annotate(ctx)
}

func (l *lists) want(ctx context.Context) (ownership.Set, error) {
	var slices discoveryv1.EndpointSliceList
	if err := l.client.List(ctx, &slices, client.InNamespace(l.binding.Namespace)); err != nil {
		return nil, err
	}
	want := ownership.Set{}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			want[ownership.Target(fmt.Sprintf("%s:%d", e.Addresses[0], kube.TargetPort))] = true
		}
	}
	return want, nil
}

// annotate writes the checkpoint of a pass, and when it was made.
func (l *lists) annotate(ctx context.Context) error {
	l.passes++
	for _, name := range []string{"checkpoint", "checkpoint-timestamp"} {
		binding := &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Namespace: l.binding.Namespace, Name: l.binding.Name}}
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"bench/%s":"%d"}}}`, name, l.passes))
		if err := l.client.Patch(ctx, binding, patch); err != nil {
			return err
		}
	}
	return nil
}
