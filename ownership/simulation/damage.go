package simulation

import (
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// harm is what people do to a table: they delete a row, or all of them, or
// bring back an earlier copy.
func (w *world) harm(b *binding) {
	if !w.shape.damages {
		return
	}
	tables := [2]*table{w.shared, w.lists}
	switch w.random.IntN(6) {
	case 0, 1, 2:
		w.copies = [2]memory.Snapshot{w.shared.Snapshot(), w.lists.Snapshot()}
	case 3:
		w.damaged("row deleted", func() {
			w.log("somebody deletes the row of %s", b)
			w.shared.remove(b.owner)
			w.lists.remove(b.owner)
		})
	case 4:
		w.damaged("table emptied", func() {
			w.log("somebody empties the table")
			for _, t := range tables {
				t.Wipe()
			}
		})
	case 5:
		w.damaged("table restored", func() {
			w.log("somebody restores an earlier table")
			for i, t := range tables {
				t.Restore(w.copies[i])
			}
		})
	}
}

func (w *world) damaged(kind string, do func()) {
	w.fault(kind)
	before := map[ownership.Owner]ownership.Record{}
	wrote, changed := map[ownership.Owner]*worker{}, map[ownership.Owner]int{}
	for o, r := range w.books.rows {
		before[o], wrote[o], changed[o] = r, w.books.writer[o], w.books.changed[o]
	}
	do()

	clear(w.books.kept)
	w.damage.step, w.damage.until = w.step, w.clock.now.Add(ownership.Settle)
	if w.damage.excused == nil {
		w.damage.excused, w.damage.unaware = map[claim]*worker{}, map[*worker]bool{}
	}
	for _, c := range w.clusters {
		for _, p := range c.processes {
			for _, x := range p.workers {
				w.damage.unaware[x] = true
			}
		}
		for _, b := range c.bindings {
			after, _ := w.shared.row(b.owner)
			if own, found := w.lists.row(b.owner); found {
				after = own
			}
			w.note(b.owner, after, nil)
			w.excuse(b, before[b.owner], after, w.knows(c, b, wrote[b.owner], changed[b.owner]))
		}
	}
}

// knows returns the worker that knows what the record of a binding said, if
// there is one that will go on.
func (w *world) knows(c *cluster, b *binding, wrote *worker, changed int) *worker {
	if c.lost {
		return nil
	}
	for _, x := range c.leader().workers {
		if x.binding == b && (x == wrote || x.read > changed) {
			return x
		}
	}
	return nil
}

func (w *world) excuse(b *binding, before, after ownership.Record, knows *worker) {
	for _, entries := range []map[ownership.Target]time.Time{before.Held, before.Releasing} {
		for t := range entries {
			if !names(after, t) {
				w.damage.excused[claim{b.owner, t}] = knows
			}
		}
	}
}
