package binding

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// WakeUp names a binding that is worth another pass although nothing of it
// has changed.
type WakeUp = event.TypedGenericEvent[client.ObjectKey]

// outages are those of the table and of the load balancer API, which each role
// reaches in its own way: that one of them serves says nothing about another.
type outages struct {
	table  *recovery
	groups *outagesByRole
	wakes  chan WakeUp
}

func newOutages() outages {
	wakes := make(chan WakeUp, maxWakes)
	return outages{newRecovery(wakes), &outagesByRole{of: map[elb.Role]*recovery{}, wakes: wakes}, wakes}
}

// outagesByRole has an entry for each role while bindings of it wait.
type outagesByRole struct {
	mu    sync.Mutex
	of    map[elb.Role]*recovery
	wakes chan WakeUp
}

func (o *outagesByRole) follow(role elb.Role, key client.ObjectKey, failed, served bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of[role] == nil && failed {
		o.of[role] = newRecovery(o.wakes)
	}
	for of, r := range o.of {
		if of == role {
			r.follow(key, failed, served)
		} else {
			r.leaves(key) // its role was another one
		}
	}
	o.prune()
}

func (o *outagesByRole) leaves(key client.ObjectKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.of {
		r.leaves(key)
	}
	o.prune()
}

func (o *outagesByRole) prune() {
	maps.DeleteFunc(o.of, func(_ elb.Role, r *recovery) bool { return r.over() })
}

func (o *outagesByRole) probe(key client.ObjectKey) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.of {
		if r.probe(key) {
			return true
		}
	}
	return false
}

// What befalls all bindings at once.
var (
	tableOutages = []error{ownership.ErrThrottled, ownership.ErrTableMissing, ownership.ErrTableCreating, ownership.ErrUnavailable}
	groupOutages = []error{ownership.ErrGroupThrottled, ownership.ErrGroupUnavailable}
)

// follow keeps the account of who waits and who is served, after a pass that
// ended with err.
func (o outages) follow(b *round, err error) {
	key := client.ObjectKeyFromObject(b)
	o.table.follow(key, b.failed(err, tableOutages), b.state != nil && b.state.ledger.Used())
	o.groups.follow(role(b.TargetGroupBinding), key, b.failed(err, groupOutages), b.called())
}

// leaves ends the waits of a binding that shows nothing about the others'.
func (o outages) leaves(key client.ObjectKey) {
	o.table.leaves(key)
	o.groups.leaves(key)
}

// probes reports whether the binding is one that is tried for all.
func (o outages) probes(key client.ObjectKey) bool {
	return o.table.probe(key) || o.groups.probe(key)
}

// failed reports whether any call of the pass failed for one of the reasons.
func (b *round) failed(err error, reasons []error) bool {
	is := func(err error) bool {
		return slices.ContainsFunc(reasons, func(class error) bool { return errors.Is(err, class) })
	}
	return is(err) || slices.ContainsFunc(b.report.Plan.Steps, func(s plan.Step) bool { return is(s.Err) })
}

// recovery wakes bindings that wait because a service did not serve them, as
// soon as it serves another binding. After an outage the back-off of each
// would be tens of seconds.
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

// maxWakes is how many bindings can be woken before the work queue takes them.
// What does not fit comes with its own retry.
const maxWakes = 1024

func newRecovery(wake chan WakeUp) *recovery {
	return &recovery{awake: map[client.ObjectKey]bool{}, wake: wake}
}

// follow notes what a pass of the binding shows. One with a trouble of its own
// does not wait for the end of anything.
func (r *recovery) follow(key client.ObjectKey, failed, served bool) {
	switch {
	case failed:
		r.fails(key)
	case served:
		r.ends(key)
		r.rouseNext(wokenByOne)
	default:
		r.leaves(key)
	}
}

// over reports whether nobody waits.
func (r *recovery) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting) == 0
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

// leaves ends the wait of a binding that shows nothing about the others'.
func (r *recovery) leaves(key client.ObjectKey) {
	if r.ends(key) {
		r.rouseNext(1)
	}
}
