package simulation

import (
	"fmt"
	"slices"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// claim is one target of one owner.
type claim struct {
	owner  ownership.Owner
	target ownership.Target
}

// books follow what the tables say, and who counts on it.
type books struct {
	rows    map[ownership.Owner]ownership.Record
	changed map[ownership.Owner]int     // the step of the last write
	writer  map[ownership.Owner]*worker // of the last write; nil: unknown
	named   map[ownership.Target]int    // how many records name it
	epoch   map[claim]int               // how often it was held or let go
	relied  map[claim]bool              // held, and registered since it is held
	kept    map[claim]*worker           // that takes it to be registered, and did nothing about it since
	missing map[ownership.Target]bool   // seen in the group and in no record
}

func newBooks() *books {
	return &books{
		rows: map[ownership.Owner]ownership.Record{}, changed: map[ownership.Owner]int{}, writer: map[ownership.Owner]*worker{},
		named: map[ownership.Target]int{}, epoch: map[claim]int{}, relied: map[claim]bool{}, missing: map[ownership.Target]bool{}, kept: map[claim]*worker{},
	}
}

func names(r ownership.Record, t ownership.Target) bool {
	_, held := r.Held[t]
	_, releasing := r.Releasing[t]
	return held || releasing
}

func (b *books) holds(c claim) bool { _, held := b.rows[c.owner].Held[c.target]; return held }

// written follows a write to a table.
func (w *world) written(by *worker, c memory.Change) {
	after := ownership.Record{}
	if c.After != nil {
		after = *c.After
	}
	w.note(c.Key.Owner, after, by)
}

func (w *world) note(o ownership.Owner, after ownership.Record, by *worker) {
	b := w.books
	before := b.rows[o]
	for _, t := range w.targets() {
		at := claim{o, t}
		_, held := before.Held[t]
		_, holds := after.Held[t]
		if held != holds {
			b.epoch[at]++
			b.relied[at] = false
		}
		if names(before, t) {
			b.named[t]--
		}
		if names(after, t) {
			b.named[t]++
			delete(w.damage.excused, at)
		}
	}
	b.rows[o], b.changed[o], b.writer[o] = after, w.step, by
}

// targets are all that there are.
func (w *world) targets() []ownership.Target {
	if w.all == nil {
		for _, p := range w.pods {
			w.all = append(w.all, p.target)
		}
		w.all = append(w.all, outsiders...)
	}
	return w.all
}

func (w *world) epochs(o ownership.Owner) map[ownership.Target]int {
	epochs := map[ownership.Target]int{}
	for _, t := range w.targets() {
		epochs[t] = w.books.epoch[claim{o, t}]
	}
	return epochs
}

// rely notes what a pass of the leader takes to be registered. Its records
// have to have said so from its beginning to its end. It goes on counting on
// that, whatever lands in the table, until a process of its cluster sets out
// to write something else.
func (b *books) rely(x *worker, inPlace ownership.Set, before map[ownership.Target]int) {
	for t := range inPlace {
		if at := (claim{x.binding.owner, t}); b.holds(at) && b.epoch[at] == before[t] {
			b.relied[at], b.kept[at] = true, x
		}
	}
}

// announce notes what a worker is about to write.
func (b *books) announce(x *worker, next ownership.Record) {
	for at := range b.kept {
		if _, holds := next.Held[at.target]; at.owner == x.binding.owner && !holds {
			delete(b.kept, at)
		}
	}
}

func (b *books) countsOn(at claim) bool {
	by := b.kept[at]
	return b.relied[at] || by != nil && !by.ended && by.leads()
}

// landed checks S1 and S3 where a call has taken effect.
func (w *world) landed(c *Call) {
	for _, t := range c.Targets {
		at := claim{c.By, t}
		if c.Verb == Register && c.refused[t] == nil && w.books.holds(at) && c.epochs[t] == w.books.epoch[at] {
			w.books.relied[at] = true
		}
	}
	w.outcome.Removals += len(c.removed)
	for _, t := range c.removed {
		if holder := w.holder(c.By, t); holder != nil && w.damage.over(w.clock.now) {
			text := fmt.Sprintf("%s took out %s, which %s holds and has registered", c.By, t, holder.owner)
			w.report(Violation{S1, text, c.By, holder.owner})
		}
		if slices.Contains(outsiders, t) && (!w.exclusive(c.By) || w.books.named[t] == 0 && !w.damage.excuses(t)) {
			w.violated(S3, "%s took out %s, which nobody recorded", c.By, t)
		}
	}
}

// exclusive reports whether a binding was exclusive at any time, so that it
// may have recorded what came from outside.
func (w *world) exclusive(o ownership.Owner) bool {
	return slices.ContainsFunc(w.clusters, func(c *cluster) bool {
		return slices.ContainsFunc(c.bindings, func(b *binding) bool { return b.owner == o && b.once })
	})
}

// holder is another owner that counts on the target.
func (w *world) holder(by ownership.Owner, t ownership.Target) *binding {
	for _, c := range w.clusters {
		for _, b := range c.bindings {
			if b.owner != by && w.books.countsOn(claim{b.owner, t}) {
				return b
			}
		}
	}
	return nil
}

// checkRecorded checks S2: what is in the group is in a record, unless it
// came from outside.
func (w *world) checkRecorded() {
	for _, p := range w.pods {
		t := p.target
		missing := w.group.Members[t] && w.books.named[t] == 0 && !w.damage.excuses(t)
		if missing && !w.books.missing[t] {
			w.violated(S2, "%s is in the group and in no record", t)
		}
		w.books.missing[t] = missing
	}
}

// damage is what somebody did to a table by hand, and who knows.
type damage struct {
	step    int              // of the last one; 0: none
	unaware map[*worker]bool // ran at the time, and have not read the table since
	until   time.Time        // S1 is not promised before
	excused map[claim]*worker
}

// aware notes that a worker has read the table since, or is no more.
func (d *damage) aware(x *worker, now time.Time) {
	if !d.unaware[x] {
		return
	}
	delete(d.unaware, x)
	if len(d.unaware) == 0 {
		d.until = now.Add(ownership.Settle)
	}
}

// over reports whether all know and no call can land that was allowed before.
func (d *damage) over(now time.Time) bool { return len(d.unaware) == 0 && !now.Before(d.until) }

// excuses reports whether some owner's record of the target was lost.
func (d *damage) excuses(t ownership.Target) bool {
	for at := range d.excused {
		if at.target == t {
			return true
		}
	}
	return false
}

// forgotten reports whether a record of the target was lost that no process
// remembers.
func (d *damage) forgotten(t ownership.Target) bool {
	for at, knows := range d.excused {
		if at.target == t && (knows == nil || knows.ended) {
			return true
		}
	}
	return false
}
