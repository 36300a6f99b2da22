package pass_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// clock is the local time of every process of a test.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time          { return c.now }
func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

// fate is what becomes of a call to the group.
type fate int

const (
	applied  fate = iota
	refused       // not applied, and answered so
	lost          // applied, and the answer lost
	delayed       // unanswered, and on its way until land
	vanished      // unanswered, and never applied
)

func (f fate) String() string {
	return [...]string{"applied", "refused", "reply lost", "delayed", "vanished"}[f]
}

// call is one call to the group.
type call struct {
	by      ownership.Owner
	verb    string // register or deregister
	targets []ownership.Target
	start   time.Time
	epochs  map[ownership.Target]int // of the simulation
}

func (c call) String() string { return fmt.Sprintf("%s %v", c.verb, c.targets) }

// group is a target group: a set of targets, a quota, and hands to disturb
// its calls.
type group struct {
	clock    *clock
	members  ownership.Set
	quota    int // 0: none
	invalid  ownership.Set
	calls    []call // as they were sent
	underWay []call // delayed

	landed func(call) // runs when a call has taken effect
}

func newGroup(c *clock, members ...ownership.Target) *group {
	return &group{clock: c, members: set(members...)}
}

func set(targets ...ownership.Target) ownership.Set {
	s := ownership.Set{}
	for _, t := range targets {
		s[t] = true
	}
	return s
}

func (g *group) listing() ownership.Set { return maps.Clone(g.members) }

// count returns how many calls of the verb were sent.
func (g *group) count(verb string) int {
	n := 0
	for _, c := range g.calls {
		if c.verb == verb {
			n++
		}
	}
	return n
}

// land applies the i-th delayed call.
func (g *group) land(i int) {
	c := g.underWay[i]
	g.underWay = slices.Delete(g.underWay, i, i+1)
	g.apply(c)
}

func (g *group) apply(c call) map[ownership.Target]error {
	errs := map[ownership.Target]error{}
	for _, t := range c.targets {
		switch {
		case c.verb == "deregister":
			delete(g.members, t)
		case g.invalid[t]:
			errs[t] = ownership.ErrInvalidTarget
		case g.quota > 0 && !g.members[t] && len(g.members) >= g.quota:
			errs[t] = ownership.ErrGroupFull
		default:
			g.members[t] = true
		}
	}
	if g.landed != nil {
		g.landed(c)
	}
	return errs
}

// client is the group as one owner calls it.
type client struct {
	group  *group
	owner  ownership.Owner
	before func(*call) fate // decides what becomes of a call; nil: applied
	after  func()           // runs before the answer
}

func (c client) Register(_ context.Context, a ownership.Admission) ownership.Result {
	return c.send(call{by: c.owner, verb: "register", targets: a.Targets()}, a.Deadline())
}

func (c client) Deregister(_ context.Context, r ownership.Removal) ownership.Result {
	return c.send(call{by: c.owner, verb: "deregister", targets: r.Targets()}, r.Deadline())
}

var errNoAnswer = errors.New("no answer")

func (c client) send(made call, deadline time.Time) ownership.Result {
	made.start = c.group.clock.Now()
	if made.start.After(deadline) {
		return ownership.Result{Refused: all(made.targets, ownership.ErrLookExpired)}
	}
	what := applied
	if c.before != nil {
		what = c.before(&made)
	}
	c.group.calls = append(c.group.calls, made)
	result := c.group.carryOut(made, what)
	if c.after != nil {
		c.after()
	}
	return result
}

func (g *group) carryOut(c call, what fate) ownership.Result {
	switch what {
	case refused:
		return ownership.Result{Refused: all(c.targets, ownership.ErrGroupThrottled)}
	case lost:
		g.apply(c)
		return ownership.Result{Unsure: all(c.targets, errNoAnswer)}
	case delayed:
		g.underWay = append(g.underWay, c)
		return ownership.Result{Unsure: all(c.targets, errNoAnswer)}
	case vanished:
		return ownership.Result{Unsure: all(c.targets, errNoAnswer)}
	}
	result := ownership.Result{Refused: g.apply(c)}
	for _, t := range c.targets {
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
