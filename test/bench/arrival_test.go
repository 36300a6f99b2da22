package bench

import (
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// arrival is when the controller's own watch delivered the slice that ends
// with the address.
type arrival struct {
	address string
	at      time.Time
}

// watchArrivals sees what the controller's informer of EndpointSlices delivers.
func (w *world) watchArrivals(b *testing.B, mgr manager.Manager) {
	b.Helper()
	informer, err := mgr.GetCache().GetInformer(b.Context(), &discoveryv1.EndpointSlice{}, cache.BlockUntilSynced(false))
	if err != nil {
		b.Fatal(err)
	}
	note := func(obj any) {
		slice := obj.(*discoveryv1.EndpointSlice)
		if n := len(slice.Endpoints); slice.Namespace == namespace && n > 0 {
			w.arrivals <- arrival{slice.Endpoints[n-1].Addresses[0], time.Now()}
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    note,
		UpdateFunc: func(_, obj any) { note(obj) },
	})
	if err != nil {
		b.Fatal(err)
	}
}

// arrived returns when the slice that ends with the address was delivered.
func (w *world) arrived(b *testing.B, address string) time.Time {
	b.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case a := <-w.arrivals:
			if a.address == address {
				return a.at
			}
		case <-timeout:
			b.Fatalf("no slice with %s within a minute", address)
		}
	}
}
