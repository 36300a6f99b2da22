package pass_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/simulation"
)

// mishap strikes one call of a pass.
type mishap struct {
	name  string
	table memory.Fault
	group simulation.Fate
	dies  bool // and with it the process: none of its calls comes through any more
}

var mishaps = []mishap{
	{"is refused", memory.Refuse(ownership.ErrThrottled), simulation.Refused, false},
	{"is applied, its reply lost", memory.LoseReply(), simulation.Lost, false},
	{"lands late", memory.Delay(), simulation.Delayed, false},
	{"dies before it", memory.Refuse(ownership.ErrUnavailable), simulation.Refused, true},
	{"dies after it", memory.LoseReply(), simulation.Lost, true},
	{"dies, and it lands late", memory.Delay(), simulation.Delayed, true},
}

// strike lets the mishap happen to the n-th call from now on, and reports by
// the returned function whether there was one.
func (r *rig) strike(c *controller, n int, m mishap) (happened func() bool) {
	made := 0
	next := func() (strikes, dead bool) {
		made++
		return made == n, made > n && m.dies
	}
	r.fault = func(memory.Op) memory.Fault {
		switch strikes, dead := next(); {
		case strikes:
			return m.table
		case dead:
			return memory.Refuse(ownership.ErrUnavailable)
		}
		return memory.Fault{}
	}
	c.client.Before = func(*simulation.Call) simulation.Fate {
		switch strikes, dead := next(); {
		case strikes:
			return m.group
		case dead:
			return simulation.Refused
		}
		return simulation.Applied
	}
	return func() bool { return made >= n }
}

// Field case 8: whatever happens to any single call, and whether or not the
// process survives it, the passes after it converge, nothing leaks and
// nothing foreign is removed.
func TestCase8Crashes(t *testing.T) {
	for _, change := range []struct {
		name     string
		had, has targets
	}{
		{"the first target", nil, targets{x}},
		{"one more", targets{x}, targets{x, y}},
		{"one replaced", targets{x}, targets{y}},
		{"one of two replaced", targets{x, w}, targets{y, w}},
		{"the last target", targets{x}, nil},
		{"a shared target", targets{x, z}, targets{x}},
	} {
		for _, m := range mishaps {
			for n := 1; crash(t, fmt.Sprintf("%s, call %d %s", change.name, n, m.name), change.had, change.has, n, m, false); n++ {
			}
			for n := 1; crash(t, fmt.Sprintf("%s side by side, call %d %s", change.name, n, m.name), change.had, change.has, n, m, true); n++ {
			}
		}
	}
}

// crash reports whether the pass made an n-th call. Side by side, what leaves is
// gone before what joins is there: the other order is that without.
func crash(t *testing.T, name string, had, has targets, n int, m mishap, sideBySide bool) (more bool) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, externals...)
			b := r.controller(owner("b"))
			b.wants(z)
			a := r.controller(owner("a"))
			a.wants(had...)

			happened := r.strike(a, n, m)
			if a.sideBySide = sideBySide; sideBySide {
				a.group = slow{a.client, new([]string)}
			}
			_ = a.pass(false, has...)
			more = happened()
			r.fault, a.client.Before, a.group, a.sideBySide = nil, nil, nil, false
			if m.dies {
				a = r.controller(owner("a"))
			}
			r.clock.Advance(time.Second)
			a.settles(has...)

			r.expectMembers(append(append(targets{z}, has...), externals...)...)
			r.expectRecord(owner("a"), has, nil)
			r.expectRecord(owner("b"), targets{z}, nil)
		})
	})
	return more
}
