package binding

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// What changes while many bindings are woken comes first, also if it is one of
// them.
func TestBehind(t *testing.T) {
	g := NewWithT(t)
	q := priorityqueue.New[reconcile.Request]("test")
	defer q.ShutDown()
	of := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: name}}
	}
	all := behind(func(_ context.Context, names []string) (requests []reconcile.Request) {
		for _, name := range names {
			requests = append(requests, of(name))
		}
		return requests
	})
	all.Generic(t.Context(), event.TypedGenericEvent[[]string]{Object: []string{"a", "b", "c"}}, q)
	q.Add(of("d"))
	q.Add(of("c"))

	var order []string
	for range 4 {
		next, _ := q.Get()
		order = append(order, next.Name)
	}
	g.Expect(order[:2]).To(ConsistOf("d", "c"))
	g.Expect(order[2:]).To(Equal([]string{"a", "b"}))
}
