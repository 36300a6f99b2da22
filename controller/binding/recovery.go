package binding

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"target-ownership-controller/controller/api/v1beta1"
)

// WakeUp names a binding that is worth another pass although nothing of it
// has changed.
type WakeUp = event.TypedGenericEvent[client.ObjectKey]

// recovery wakes bindings that wait because the table or the load balancer
// API did not serve them, as soon as another binding is served. After an
// outage the back-off of each would be tens of seconds.
//
// The one that has waited longest is tried every probePeriod, for all of
// them. A pass that succeeds wakes two. When the outage is over they double from
// round to round; while only some calls go through, there are not more than
// two tries for each that does.
type recovery struct {
	mu      sync.Mutex
	waiting []client.ObjectKey // in the order in which they failed
	wake    chan WakeUp
}

const (
	wokenByOne  = 2
	probePeriod = 2 * time.Second
)

// newRecovery has room for as many bindings as are woken before the work
// queue takes them. What does not fit comes with its own retry.
func newRecovery() *recovery { return &recovery{wake: make(chan WakeUp, 1024)} }

// fails notes that the binding waits.
func (r *recovery) fails(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.waiting, key) {
		r.waiting = append(r.waiting, key)
	}
}

// probe reports whether the binding is the one that is tried for all.
func (r *recovery) probe(key client.ObjectKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) > 0 && r.waiting[0] == key
}

// ends notes that the binding waits no longer.
func (r *recovery) ends(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(k client.ObjectKey) bool { return k == key })
}

// served wakes the bindings that have waited longest.
func (r *recovery) served() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(wokenByOne, len(r.waiting))
	for _, key := range r.waiting[:n] {
		select {
		case r.wake <- WakeUp{Object: key}:
		default:
		}
	}
	r.waiting = slices.Delete(r.waiting, 0, n)
}

// outages are the reasons that befall all bindings at once.
var outages = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonThrottled:               true,
	v1beta1.ReasonTableUnavailable:        true,
	v1beta1.ReasonLoadBalancerUnavailable: true,
}

// follow keeps the account of who waits and who is served.
func (r *recovery) follow(b *round, err error) {
	if err == nil {
		err = b.firstFailure().Err
	}
	key := client.ObjectKeyFromObject(b)
	switch {
	case err == nil:
		r.ends(key)
		if b.called() {
			r.served()
		}
	case outages[explain(err)]:
		r.fails(key)
	}
}
