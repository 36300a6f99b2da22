package binding

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership/plan"
)

// WakeUp names a binding that is worth another pass although nothing of it
// has changed.
type WakeUp = event.TypedGenericEvent[client.ObjectKey]

// recovery wakes bindings that wait because the table or the load balancer
// API did not serve them, as soon as another binding is served. After an
// outage the back-off of each would be tens of seconds.
//
// One is tried every probePeriod, for all of them. A pass that is served
// wakes two, those that were tried longest ago. When the outage is over they
// double from round to round; while only some calls go through, there are not
// more than two tries for each that does.
type recovery struct {
	mu      sync.Mutex
	waiting []client.ObjectKey // in the order in which they failed last
	tried   client.ObjectKey   // the one that is tried for all
	awake   map[client.ObjectKey]bool
	wake    chan WakeUp
}

const (
	wokenByOne  = 2
	probePeriod = 2 * time.Second
)

// newRecovery has room for as many bindings as are woken before the work
// queue takes them. What does not fit comes with its own retry.
func newRecovery() *recovery {
	return &recovery{awake: map[client.ObjectKey]bool{}, wake: make(chan WakeUp, 1024)}
}

// fails notes that the binding waits, or waits on.
func (r *recovery) fails(key client.ObjectKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(key)
	r.waiting = append(r.waiting, key)
	if len(r.waiting) == 1 {
		r.tried = key
	}
}

// probe reports whether the binding is the one that is tried for all.
func (r *recovery) probe(key client.ObjectKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) > 0 && r.tried == key
}

// ends notes that the binding waits no longer, and reports whether it was
// the one that is tried for all. Then another one is.
func (r *recovery) ends(key client.ObjectKey) (tried bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tried = len(r.waiting) > 0 && r.tried == key
	r.remove(key)
	if tried && len(r.waiting) > 0 {
		r.tried = r.waiting[0]
	}
	return tried
}

func (r *recovery) remove(key client.ObjectKey) {
	delete(r.awake, key)
	r.waiting = slices.DeleteFunc(r.waiting, func(k client.ObjectKey) bool { return k == key })
}

// rouseNext wakes those n that were tried longest ago, of the ones that sleep.
func (r *recovery) rouseNext(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range r.waiting {
		if n == 0 {
			return
		}
		if !r.awake[key] {
			r.rouse(key)
			n--
		}
	}
}

func (r *recovery) rouse(key client.ObjectKey) {
	select {
	case r.wake <- WakeUp{Object: key}:
		r.awake[key] = true
	default:
	}
}

// outages are the reasons that befall all bindings at once.
var outages = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonThrottled:               true,
	v1beta1.ReasonTableUnavailable:        true,
	v1beta1.ReasonLoadBalancerUnavailable: true,
}

// follow keeps the account of who waits and who is served. A binding with a
// trouble of its own does not wait for the end of anything.
func (r *recovery) follow(b *round, err error) {
	key := client.ObjectKeyFromObject(b)
	switch {
	case b.outage(err):
		r.fails(key)
	case err == nil && b.served():
		r.ends(key)
		r.rouseNext(wokenByOne)
	default:
		r.leaves(key)
	}
}

// leaves ends the wait of a binding that shows nothing about the others'.
func (r *recovery) leaves(key client.ObjectKey) {
	if r.ends(key) {
		r.rouseNext(1)
	}
}

// outage reports whether any call of the pass failed for a reason that
// befalls all bindings.
func (b *round) outage(err error) bool {
	return err != nil && outages[explain(err)] ||
		slices.ContainsFunc(b.report.Plan.Steps, func(s plan.Step) bool { return s.Err != nil && outages[explain(s.Err)] })
}

// served reports whether the table or the load balancer API served the pass:
// most passes have nothing to ask.
func (b *round) served() bool { return b.called() || b.state.ledger.Used() }
