package simulation

import (
	"context"
	"fmt"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// table is a table that knows what happens to its next call, and who makes it.
type table struct {
	*memory.Table
	fault  memory.Fault
	writer *worker // nil: nobody, or somebody who no longer waits
}

func newTable(written func(*worker, memory.Change)) *table {
	t := &table{Table: memory.New()}
	t.Observe(func(c memory.Change) { written(t.writer, c) })
	t.Intercept(func(memory.Op) memory.Fault {
		f := t.fault
		t.fault = memory.Fault{}
		return f
	})
	return t
}

// all returns the whole content.
func (t *table) all() []ownership.Record {
	read, err := t.Records(context.Background(), arn)
	if err != nil {
		panic(fmt.Sprintf("a table without faults: %v", err))
	}
	return read.Records
}

func (t *table) row(o ownership.Owner) (row ownership.Record, found bool) {
	for _, r := range t.all() {
		if r.Owner == o {
			return r, true
		}
	}
	return ownership.Record{Group: arn, Owner: o}, false
}

// remove deletes a row by hand.
func (t *table) remove(o ownership.Owner) {
	if row, found := t.row(o); found {
		if err := t.Delete(context.Background(), row); err != nil {
			panic(fmt.Sprintf("a table without faults: %v", err))
		}
	}
}

// listing is the cluster's own list of targets as one worker sees it: a row
// that no other owner reads. A save that is late does not land after another
// one has, which is kinder than an API server has to be.
type listing struct{ *worker }

func (s listing) Load(context.Context) (ownership.Set, bool, error) {
	s.pause("load")
	if s.world.chance(3, "read refused") {
		return nil, false, fmt.Errorf("load: %w", ownership.ErrUnavailable)
	}
	row, found := s.world.lists.row(s.binding.owner)
	targets := ownership.Set{}
	for t := range row.Held {
		targets[t] = true
	}
	s.world.log("%s: loads its list: %v", s.binding, keys(targets))
	s.pause("load reply")
	return targets, found, nil
}

func (s listing) Save(ctx context.Context, targets ownership.Set) error {
	w := s.world
	next := ownership.Record{Group: arn, Owner: s.binding.owner, BindingUID: "its own"}.Clone()
	for t := range targets {
		next.Held[t] = w.clock.now
	}
	w.books.announce(s.worker, next)
	return s.write("save", w.lists, func() error {
		fault := w.lists.fault
		w.lists.fault = memory.Fault{}
		row, _ := w.lists.row(s.binding.owner)
		next.Revision = ownership.Revision{Version: row.Version + 1, WriteID: w.newID()}
		w.lists.fault = fault
		err := w.lists.Put(ctx, next, row.Revision)
		w.log("%s: saves its list %v: %v", s.binding, keys(targets), err)
		return err
	})
}

func (s listing) Delete(ctx context.Context) error {
	w := s.world
	return s.write("delete", w.lists, func() error {
		fault := w.lists.fault
		w.lists.fault = memory.Fault{}
		row, found := w.lists.row(s.binding.owner)
		if !found {
			return nil
		}
		w.lists.fault = fault
		err := w.lists.Delete(ctx, row)
		w.log("%s: deletes its list: %v", s.binding, err)
		return err
	})
}
