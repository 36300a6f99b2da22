package cluster_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

func TestGateTellsChangesOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		table.Intercept(refuse(ownership.ErrUnavailable))
		c := config("uid-a", table)
		heartbeat := cluster.NewHeartbeat(c)
		events, others := c.Gate.Watch(), c.Gate.Watch()

		start(t, heartbeat)
		g.Expect(drain(events)).To(Equal(1), "not claimed yet, to unavailable")
		pass(time.Hour)
		g.Expect(drain(events)).To(BeZero(), "each retry fails in the same way")

		table.Intercept(refuse(ownership.ErrForbidden))
		pass(30 * time.Second)
		g.Expect(drain(events)).To(Equal(1), "unavailable to forbidden")

		table.Intercept(nil)
		pass(30 * time.Second)
		g.Expect(drain(events)).To(Equal(1), "open")
		pass(time.Hour)
		g.Expect(drain(events)).To(BeZero(), "stays open")

		operate(t, table, ownership.ClusterDrained)
		pass(10 * time.Second)
		g.Expect(drain(events)).To(Equal(1), "drained")
		operate(t, table, ownership.ClusterRetired)
		pass(10 * time.Second)
		g.Expect(drain(events)).To(Equal(1), "closed")

		g.Expect(drain(others)).To(Equal(1), "nobody received, so one event tells all of it")
	})
}

// A controller watches the gate like this.
func TestGateIsASourceOfRequests(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		c := config("uid-a", memory.New())
		all := []reconcile.Request{
			{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web"}},
			{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "api"}},
		}
		listBindings := func(context.Context, *cluster.Gate) []reconcile.Request { return all }
		watch := source.Channel(c.Gate.Watch(), handler.TypedEnqueueRequestsFromMapFunc(listBindings))

		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		t.Cleanup(queue.ShutDown)
		g.Expect(watch.Start(t.Context(), queue)).To(Succeed())
		beating(t, c)
		pass(time.Second)
		g.Expect(queue.Len()).To(Equal(len(all)))
	})
}
