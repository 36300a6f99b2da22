package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// pausing is the shared table as one worker sees it.
type pausing struct{ *worker }

// Records reads twice: a query is no snapshot, and each record may be from
// either time.
func (s pausing) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	w, began := s.world, s.world.step
	s.asks("look")
	if w.chance(3, "read refused") {
		return ownership.Records{}, fmt.Errorf("look: %w", ownership.ErrUnavailable)
	}
	first, err := w.shared.Records(ctx, group)
	if err != nil {
		return first, err
	}
	s.pause("look on")
	second, err := w.shared.Records(ctx, group)
	seen := ownership.Records{Records: w.mix(first.Records, second.Records)}
	w.log("%s: looks: %s", s.binding, describe(seen.Records))
	if began > w.damage.step {
		w.damage.aware(s.worker, w.clock.now)
	}
	s.pause("look reply")
	s.read = began
	return seen, err
}

// mix takes each record from either of two readings, which are in the order
// of their owners.
func (w *world) mix(a, b []ownership.Record) []ownership.Record {
	var mixed []ownership.Record
	for len(a) > 0 || len(b) > 0 {
		var first, second []ownership.Record // of the same owner
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Owner.String() < b[0].Owner.String():
			first, a = a[:1], a[1:]
		case len(a) == 0 || a[0].Owner != b[0].Owner:
			second, b = b[:1], b[1:]
		default:
			first, second, a, b = a[:1], b[:1], a[1:], b[1:]
		}
		if w.coin() {
			first = second
		}
		mixed = append(mixed, first...)
	}
	return mixed
}

func (s pausing) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	s.world.books.announce(s.worker, next)
	return s.write("put", s.world.shared, func() error {
		err := s.world.shared.Put(ctx, next, seen)
		s.world.log("%s: put %s: %v", s.binding, describe([]ownership.Record{next}), err)
		return err
	})
}

func (s pausing) Delete(ctx context.Context, rec ownership.Record) error {
	return s.write("delete", s.world.shared, func() error {
		err := s.world.shared.Delete(ctx, rec)
		s.world.log("%s: delete %s: %v", s.binding, describe([]ownership.Record{rec}), err)
		return err
	})
}

func (s pausing) Groups(context.Context, string) ([]ownership.Key, error) { panic("no pass asks") }

// asks pauses before a call that a pass with nothing to do does not make.
func (x *worker) asks(what string) {
	x.world.mutations++
	x.pause(what)
}

// write makes a write to a table, with whatever may go wrong.
func (x *worker) write(what string, t *table, apply func() error) error {
	w := x.world
	under := func(f memory.Fault) error {
		t.fault, t.writer = f, x
		defer func() { t.writer = nil }()
		return apply()
	}
	w.mutations++
	if !x.goesOn(what) {
		if w.coin() {
			_ = under(memory.Delay())
		}
		panic(died{})
	}
	var err error
	switch {
	case w.chance(3, "write throttled"):
		err = under(memory.Refuse(ownership.ErrThrottled))
	case w.chance(3, "write applied, reply lost"):
		err = under(memory.LoseReply())
	case w.chance(3, "write late"):
		err = under(memory.Delay())
	case w.chance(3, "write doubled"):
		_ = under(memory.LoseReply())
		err = under(memory.Fault{}) // the SDK tries again
	default:
		err = under(memory.Fault{})
	}
	x.pause(what + " reply")
	return err
}

// caller is the group as one worker sees it.
type caller struct {
	Client
	*worker
}

func (c caller) List() (ownership.Set, error) {
	c.pause("list")
	return c.world.list(), nil
}

func (x *worker) client() Client {
	return Client{Group: x.world.group, Owner: x.binding.owner, Before: x.send, After: func() {
		x.pause("group reply")
		x.call = nil
	}}
}

// send decides about a call that has begun. While it is on its way its
// process may freeze or die.
func (x *worker) send(c *Call) Fate {
	w := x.world
	w.mutations++
	c.epochs = w.epochs(c.By)
	x.call, x.sending, x.adrift = c, true, false
	goesOn := x.goesOn(string(c.Verb))
	x.sending = false
	what := Applied
	switch {
	case !goesOn:
		if !x.adrift && w.coin() {
			w.group.UnderWay = append(w.group.UnderWay, c)
		}
		panic(died{})
	case x.adrift && c.landed && w.coin():
		what = Answered
	case x.adrift:
		what = Vanished
	case w.chance(5, "group refuses"):
		what = Refused
	case w.chance(5, "group call applied, reply lost"):
		what = Lost
	case w.chance(3, "group call doubled"):
		what = Doubled
	case w.chance(10, "group call late"):
		what = Delayed
	case w.chance(3, "group call vanishes"):
		what = Vanished
	}
	w.log("%s: %s: %s", x.binding, c, what)
	return what
}

// now is what a pass of the worker goes by.
func (w *world) now(x *worker) Binding {
	b := x.binding
	reread := w.shape.compares && w.random.IntN(4) == 0
	if w.calm {
		reread = w.rereads
	}
	return Binding{
		Want: maps.Clone(x.process.wants(b, w.clock.now)), Began: w.clock.now, Exclusive: b.exclusive, Deleted: b.deleted,
		Reread: reread, Compare: reread && w.shape.compares,
	}
}

func describe(records []ownership.Record) string {
	if len(records) == 0 {
		return "no records"
	}
	text := ""
	for _, r := range records {
		text += fmt.Sprintf("%s/%s v%d held %v releasing %v; ", r.Owner.Cluster, r.Owner.Name, r.Version, keys(r.Held), keys(r.Releasing))
	}
	return text[:len(text)-2]
}

func keys[V any](m map[ownership.Target]V) []ownership.Target {
	targets := make([]ownership.Target, 0, len(m))
	for t := range m {
		targets = append(targets, t)
	}
	slices.Sort(targets)
	return targets
}
