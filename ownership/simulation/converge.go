package simulation

import (
	"maps"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// settle ends all faults and changes, and lets everybody reconcile until
// nothing more should happen. Time passes meanwhile: some of what went wrong
// is over only after Settle, and some only with another reading.
func (w *world) settle() {
	w.calm = true
	w.log("--- calm ---")
	for _, c := range w.clusters {
		for _, p := range c.processes {
			p.frozen, p.lagged = time.Time{}, time.Time{}
		}
		for len(c.processes) > 1 && !w.over() {
			for _, x := range slices.Clone(c.processes[0].workers) {
				w.finish(x)
			}
		}
	}
	for i := range 20 {
		w.rereads = i%3 == 2
		w.round()
		if w.over() {
			return
		}
		w.pass(25 * time.Second)
		for _, t := range []*table{w.shared, w.lists} {
			for len(t.Delayed()) > 0 {
				w.landWrite(t)
			}
		}
		w.sweep()
	}
}

// round runs one whole pass of every binding.
func (w *world) round() {
	for _, c := range w.clusters {
		for _, p := range c.processes {
			for _, x := range slices.Clone(p.workers) {
				w.finish(x)
			}
		}
	}
}

// finish runs a worker to the end of its pass, or through a whole one.
func (w *world) finish(x *worker) {
	for more := true; more && !w.over(); more = !x.ended && !x.idle() {
		w.run(x)
		w.checkRecorded()
		w.next()
	}
}

// sweep has records released that no binding stands for, as a controller does
// after its start and from time to time.
func (w *world) sweep() {
	for _, c := range w.clusters {
		for _, b := range c.bindings {
			if _, found := w.shared.row(b.owner); !found || !b.gone || c.lost {
				continue
			}
			busy := w.employed(b)
			b.gone, b.deleted, b.uid = false, true, ""
			if !busy {
				w.employ(b)
			}
		}
	}
}

// checkConverged checks L1.
func (w *world) checkConverged() {
	if w.over() {
		return
	}
	wanted, lost, exclusive := ownership.Set{}, ownership.Set{}, false
	for _, c := range w.clusters {
		for _, b := range c.bindings {
			row := w.books.rows[b.owner]
			switch {
			case c.lost:
				for _, t := range w.targets() {
					lost[t] = lost[t] || names(row, t)
				}
			case !slices.Equal(keys(row.Held), keys(b.want)) || len(row.Releasing) > 0:
				w.violated(L1Record, "%s wants %v, and its record is %s", b, keys(b.want), describe([]ownership.Record{row}))
			}
			maps.Copy(wanted, b.want)
			exclusive = exclusive || b.live() && b.exclusive
		}
	}
	w.checkMembers(wanted, lost)
	for _, t := range outsiders {
		if exclusive && w.shape.compares && w.group.Members[t] && w.books.named[t] == 0 {
			w.violated(L1Left, "%s is in a group that is bound exclusively", t)
		}
	}
	w.checkQuiet(wanted)
}

func (w *world) checkMembers(wanted, lost ownership.Set) {
	full := w.group.Quota > 0 && len(w.group.Members) >= w.group.Quota
	for _, p := range w.pods {
		t := p.target
		switch in := w.group.Members[t]; {
		case wanted[t] && !in && !full && !w.group.Invalid[t]:
			w.violated(L1Missing, "%s is wanted and not in the group", t)
		case !wanted[t] && in && !lost[t] && !w.damage.forgotten(t):
			w.violated(L1Left, "%s is in the group and nobody wants it", t)
		}
	}
}

// checkQuiet checks that a further pass calls nothing, unless something is
// wanted that the group does not take.
func (w *world) checkQuiet(wanted ownership.Set) {
	for t := range wanted {
		if !w.group.Members[t] {
			return
		}
	}
	w.rereads = false
	calls := w.mutations
	w.round()
	if n := w.mutations - calls; n > 0 && !w.over() {
		w.violated(L1Quiet, "nothing is left to do, and a further round makes %d calls", n)
	}
}
