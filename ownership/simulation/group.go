package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// Clock is the local time of every process of a run.
type Clock struct{ now time.Time }

// NewClock starts at a fixed time.
func NewClock() *Clock { return &Clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

// Now returns the virtual time.
func (c *Clock) Now() time.Time { return c.now }

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) { c.now = c.now.Add(d) }

// Fate is what becomes of a call to the group.
type Fate int

// The fates of a call.
const (
	Applied  Fate = iota
	Refused       // not applied, and answered so
	Lost          // applied, and the answer lost
	Doubled       // applied, the answer lost, and applied once more when it lands
	Delayed       // unanswered, and on its way until it lands
	Vanished      // unanswered, and nothing happens any more
	Answered      // it has landed already, and now the answer arrives
)

func (f Fate) String() string {
	return [...]string{"applied", "refused", "reply lost", "doubled", "delayed", "vanished", "answered late"}[f]
}

// Verb is what a call does with its targets.
type Verb string

// The verbs.
const (
	Register   Verb = "register"
	Deregister Verb = "deregister"
)

// Call is one call to the group.
type Call struct {
	By      ownership.Owner
	Verb    Verb
	Targets []ownership.Target
	Start   time.Time

	epochs  map[ownership.Target]int // of the records, when it was sent
	landed  bool
	refused map[ownership.Target]error // by the group, when it landed
	removed []ownership.Target         // from the group, when it landed
}

func (c *Call) String() string { return fmt.Sprintf("%s %v", c.Verb, c.Targets) }

// Group is a target group: a set of targets, a quota, and hands to disturb
// its calls.
type Group struct {
	Clock    *Clock
	Members  ownership.Set
	Quota    int // 0: none
	Invalid  ownership.Set
	Calls    []*Call // as they were sent
	UnderWay []*Call // sent, not answered, and not landed

	onLanding func(*Call) // runs when a call has taken effect
}

// NewGroup returns a group with some members.
func NewGroup(c *Clock, members ...ownership.Target) *Group {
	g := &Group{Clock: c, Members: ownership.Set{}}
	for _, t := range members {
		g.Members[t] = true
	}
	return g
}

// Listing returns a copy of the members.
func (g *Group) Listing() ownership.Set { return maps.Clone(g.Members) }

// Count returns how many calls of the verb were sent.
func (g *Group) Count(v Verb) int {
	n := 0
	for _, c := range g.Calls {
		if c.Verb == v {
			n++
		}
	}
	return n
}

// Land applies the i-th call that is under way.
func (g *Group) Land(i int) {
	c := g.UnderWay[i]
	g.UnderWay = slices.Delete(g.UnderWay, i, i+1)
	g.apply(c)
}

func (g *Group) apply(c *Call) {
	c.landed, c.refused, c.removed = true, map[ownership.Target]error{}, nil
	for _, t := range c.Targets {
		switch {
		case c.Verb == Deregister && g.Members[t]:
			delete(g.Members, t)
			c.removed = append(c.removed, t)
		case c.Verb == Deregister: // no error, as of the real one
		case g.Invalid[t]:
			c.refused[t] = ownership.ErrInvalidTarget
		case g.Quota > 0 && !g.Members[t] && len(g.Members) >= g.Quota:
			c.refused[t] = ownership.ErrGroupFull
		default:
			g.Members[t] = true
		}
	}
	if g.onLanding != nil {
		g.onLanding(c)
	}
}

// Client is the group as one owner calls it.
type Client struct {
	Group  *Group
	Owner  ownership.Owner
	Before func(*Call) Fate // decides what becomes of a call; nil: applied
	After  func()           // runs before the answer
}

// Register is what a pass calls.
func (c Client) Register(_ context.Context, a ownership.Admission) ownership.Result {
	return c.Call(Register, a.Targets(), c.until(a.Left))
}

// Deregister is what a pass calls.
func (c Client) Deregister(_ context.Context, r ownership.Removal) ownership.Result {
	return c.Call(Deregister, r.Targets(), c.until(r.Left))
}

func (c Client) until(left func(time.Time) time.Duration) time.Time {
	now := c.Group.Clock.Now()
	return now.Add(left(now))
}

var errNoAnswer = errors.New("no answer")

// Call makes one call, unless its deadline is over.
func (c Client) Call(v Verb, targets []ownership.Target, deadline time.Time) ownership.Result {
	made := &Call{By: c.Owner, Verb: v, Targets: targets, Start: c.Group.Clock.Now()}
	if made.Start.After(deadline) {
		return ownership.Result{Refused: all(targets, ownership.ErrLookExpired)}
	}
	what := Applied
	if c.Before != nil {
		what = c.Before(made)
	}
	c.Group.Calls = append(c.Group.Calls, made)
	result := c.Group.carryOut(made, what)
	if c.After != nil {
		c.After()
	}
	return result
}

func (g *Group) carryOut(c *Call, what Fate) ownership.Result {
	switch what {
	case Refused:
		return ownership.Result{Refused: all(c.Targets, ownership.ErrGroupThrottled)}
	case Applied:
		g.apply(c)
		return c.answer()
	case Answered:
		return c.answer()
	case Lost:
		g.apply(c)
	case Doubled:
		g.apply(c)
		g.UnderWay = append(g.UnderWay, c)
	case Delayed:
		g.UnderWay = append(g.UnderWay, c)
	}
	return ownership.Result{Unsure: all(c.Targets, errNoAnswer)}
}

func (c *Call) answer() ownership.Result {
	result := ownership.Result{Refused: c.refused}
	for _, t := range c.Targets {
		if result.Refused[t] == nil {
			result.Done = append(result.Done, t)
		}
	}
	return result
}

func all(targets []ownership.Target, err error) map[ownership.Target]error {
	errs := map[ownership.Target]error{}
	for _, t := range targets {
		errs[t] = err
	}
	return errs
}
