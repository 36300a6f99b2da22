package cluster

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/event"
)

// GateEvent says that the gate has opened, closed, or is closed for another
// reason than before. It carries no answer: ask [Gate.Check].
type GateEvent = event.TypedGenericEvent[*Gate]

// Gate is open while this cluster may reconcile its bindings. It is safe for
// concurrent use.
//
// A pass that has begun when the gate closes runs to its end.
type Gate struct {
	mu       sync.Mutex
	closed   map[keeper]closure
	drained  bool
	watchers []chan GateEvent
}

// keeper is somebody who can hold the gate closed.
type keeper int

// The keepers, in the order in which their reasons are told.
const (
	registryKeeper keeper = iota
	loadBalancerControllerKeeper
	keepers
)

// closure is a reason for being closed. Two closures of one class differ in
// details only, such as the time of the last attempt, and are no news.
type closure interface {
	error
	class() string
}

// NewGate returns a gate that is closed until a [Heartbeat] has claimed the
// cluster ID.
func NewGate() *Gate {
	return &Gate{closed: map[keeper]closure{registryKeeper: &NotClaimedError{}}}
}

// Check returns nil if the gate is open, else one of [NotClaimedError],
// [DuplicateIDError], [RetiredError], [UnknownStateError],
// [LoadBalancerControllerError] and [LeaseUnreadableError], all as pointers.
func (g *Gate) Check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.reason(); c != nil {
		return c
	}
	return nil
}

// Drained reports whether an operator wants this cluster's targets to leave
// while its bindings stay. It means something while the gate is open.
func (g *Gate) Drained() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drained
}

// Watch returns a new channel that gets an event after every change of what
// Check or Drained answers. Changes that nobody has received yet are merged
// into one event. It is made for source.Channel, with a handler that enqueues
// all bindings; call it before the manager starts.
func (g *Gate) Watch() <-chan GateEvent {
	g.mu.Lock()
	defer g.mu.Unlock()
	watcher := make(chan GateEvent, 1)
	g.watchers = append(g.watchers, watcher)
	return watcher
}

// close keeps the gate closed for the keeper, replacing its earlier reason.
func (g *Gate) close(k keeper, c closure) {
	g.change(func() { g.closed[k] = c })
}

// open takes the keeper's reason away.
func (g *Gate) open(k keeper) {
	g.change(func() { delete(g.closed, k) })
}

// admit opens the gate for the registry and notes whether to drain.
func (g *Gate) admit(drained bool) {
	g.change(func() {
		delete(g.closed, registryKeeper)
		g.drained = drained
	})
}

func (g *Gate) change(apply func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	reason, drained := classOf(g.reason()), g.drained
	apply()
	if classOf(g.reason()) == reason && g.drained == drained {
		return
	}
	for _, watcher := range g.watchers {
		select {
		case watcher <- GateEvent{Object: g}:
		default: // the event that waits there tells this change too
		}
	}
}

func (g *Gate) reason() closure {
	for k := range keepers {
		if c, ok := g.closed[k]; ok {
			return c
		}
	}
	return nil
}

func classOf(c closure) string {
	if c == nil {
		return ""
	}
	return c.class()
}
