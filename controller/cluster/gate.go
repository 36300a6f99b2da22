package cluster

import (
	"errors"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"target-ownership-controller/controller/signal"
	"target-ownership-controller/ownership"
)

// GateEvent says that the gate has opened, closed, or is closed for another
// reason than before. It carries no answer: ask [Gate.Check].
type GateEvent = event.TypedGenericEvent[*Gate]

// ErrNotRenewed says that the claim on the cluster ID has not been renewed
// since the mark. That has been asked for: ask again in a second.
var ErrNotRenewed = errors.New("the cluster ID has not been confirmed in the ownership table since the record was read")

// Gate is open while this cluster may reconcile its bindings. It is safe for
// concurrent use.
//
// A claim that has not been renewed for its validity closes the gate until
// the next renewal, without an event: whoever asks learns it, and a binding
// with nothing to do need not. A pass that has begun when the gate closes runs
// to its end.
type Gate struct {
	now    func() time.Time
	wanted chan struct{} // a renewal of the claim before its time

	mu      sync.Mutex
	closed  map[keeper]closure
	claim   admission
	begun   Mark // renewals of the claim
	drained bool
	changed signal.Signal[*Gate]
}

// Mark is a moment in the row of renewals; see [Gate.CheckSince].
type Mark int64

// admission is what the registry last allowed, by a renewal of the claim, or
// to a retired cluster by a reading of its entry.
type admission struct {
	id       string
	number   Mark
	began    time.Time // before anything of the renewal was read or written
	validity time.Duration
	trouble  error // why the last renewal failed, if one has since
}

// lapsed returns why the admission counts no longer, or nil. Both hands of the
// clock count: a process that was frozen, or on a machine that slept, has to
// renew its claim before it goes on.
func (a *admission) lapsed(now time.Time) closure {
	if a.validity == 0 || ownership.Elapsed(a.began, now) <= a.validity {
		return nil
	}
	return &NotClaimedError{ID: a.id, Err: a.trouble, Lapsed: a.validity}
}

// keeper is somebody who can hold the gate closed.
type keeper int

// The keepers, in the order in which their reasons are told.
const (
	registryKeeper keeper = iota
	loadBalancerControllerKeeper
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
	return &Gate{now: time.Now, wanted: make(chan struct{}, 1), closed: map[keeper]closure{registryKeeper: &NotClaimedError{}}}
}

// Check returns nil if the gate is open, else one of [NotClaimedError],
// [DuplicateIDError], [RenamedError], [RetiredError], [UnknownStateError],
// [UnreadableEntryError], [LoadBalancerControllerError] and
// [LeaseUnreadableError], all as pointers.
func (g *Gate) Check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.check()
}

// check is Check for those who have the lock.
func (g *Gate) check(ignored ...keeper) error {
	if c := g.reason(ignored...); c != nil {
		return c
	}
	return nil
}

// Beside is the gate for bindings that the AWS Load Balancer Controller does
// not work on: it may run beside.
type Beside struct{ *Gate }

// Check is [Gate.Check], without [LoadBalancerControllerError] and
// [LeaseUnreadableError].
func (g Beside) Check() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.check(loadBalancerControllerKeeper)
}

// CheckSince is [Gate.CheckSince], without the same errors.
func (g Beside) CheckSince(m Mark) error { return g.checkSince(m, loadBalancerControllerKeeper) }

// misconfigured returns why the registry keeps the gate closed, where neither
// time nor an operator who wants it so is the cause. It is nil on a standby.
func (g *Gate) misconfigured() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch c := g.closed[registryKeeper].(type) {
	case nil, *RetiredError:
		return nil
	case *NotClaimedError:
		if c.Err == nil {
			return nil
		}
		return c
	default:
		return c
	}
}

// Mark returns the present moment, for [Gate.CheckSince].
func (g *Gate) Mark() Mark {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.begun
}

// CheckSince is [Gate.Check], and returns [ErrNotRenewed] unless a renewal of
// the claim that began after the mark has succeeded: what was read before the
// mark was then read while the cluster ID was ours, whatever time has passed.
// It needs no clock, and waits for no call: a renewal that is missing is asked
// for, which is one heartbeat more.
//
// A [RetiredError] comes with that proof too: to be retired is no reason to
// leave to others what is still one's own to take out.
func (g *Gate) CheckSince(m Mark) error { return g.checkSince(m) }

func (g *Gate) checkSince(m Mark, ignored ...keeper) error {
	// One lock for both answers: a renewal in between could refuse the ID.
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.check(ignored...)
	if retired := (*RetiredError)(nil); err != nil && !errors.As(err, &retired) {
		return err
	}
	if g.claim.number > m {
		return err
	}
	select {
	case g.wanted <- struct{}{}:
	default: // asked for already
	}
	return ErrNotRenewed
}

// Drained reports whether an operator wants this cluster's targets to leave
// while its bindings stay. It means something while the gate is open.
func (g *Gate) Drained() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drained
}

// Watch returns a new channel that gets an event after every change of what
// Check or Drained answers, but for a claim that lapses. Changes that nobody
// has received yet are merged into one event. It is made for source.Channel,
// with a handler that enqueues all bindings; call it before the manager starts.
func (g *Gate) Watch() <-chan GateEvent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed.Watch()
}

// close keeps the gate closed for the keeper, replacing its earlier reason.
func (g *Gate) close(k keeper, c closure) {
	g.change(func() { g.closed[k] = c })
}

// open takes the keeper's reason away.
func (g *Gate) open(k keeper) {
	g.change(func() { delete(g.closed, k) })
}

// renewing numbers a renewal that is about to begin.
func (g *Gate) renewing() Mark {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.begun++
	return g.begun
}

// admit opens the gate for the registry and notes whether to drain.
func (g *Gate) admit(a admission, drained bool) {
	g.change(func() {
		delete(g.closed, registryKeeper)
		g.claim, g.drained = a, drained
	})
}

// refuse closes the gate for the registry, by an answer of the same validity.
func (g *Gate) refuse(a admission, c closure) {
	g.change(func() { g.closed[registryKeeper], g.claim = c, a })
}

// trouble notes why a renewal failed, to be told should the claim lapse.
func (g *Gate) trouble(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.claim.trouble = err
}

func (g *Gate) change(apply func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	reason, drained := classOf(g.reason()), g.drained
	apply()
	if classOf(g.reason()) == reason && g.drained == drained {
		return
	}
	g.changed.Tell(g)
}

func (g *Gate) reason(ignored ...keeper) closure {
	c := g.closed[registryKeeper]
	if _, retired := c.(*RetiredError); c == nil || retired { // retired clusters may still release
		if lapsed := g.claim.lapsed(g.now()); lapsed != nil {
			return lapsed
		}
	}
	if c == nil && !slices.Contains(ignored, loadBalancerControllerKeeper) {
		c = g.closed[loadBalancerControllerKeeper]
	}
	return c
}

func classOf(c closure) string {
	if c == nil {
		return ""
	}
	return c.class()
}
