package simulation

import (
	"slices"

	"target-ownership-controller/ownership"
)

// mask leaves parts out of a run.
type mask struct {
	steps  map[int]bool             // that are not taken
	faults map[int]bool             // steps in which no call goes wrong
	owners map[ownership.Owner]bool // bindings that are not there
	after  int                      // all steps after it, unless 0
}

// maxTries bounds the runs that a shrinking takes: a few seconds.
const maxTries = 3000

// Shrink takes bindings, steps and faults out of a failing run as long as it
// still breaks the same promise, and returns the last that does, with its
// history. A run that does not fail is returned as it is.
func Shrink(c Config) Outcome {
	c.Count, c.Record = false, false
	c.without = mask{steps: map[int]bool{}, faults: map[int]bool{}, owners: map[ownership.Owner]bool{}}
	first := Run(c)
	if len(first.Violations) == 0 {
		return first
	}
	tries := 0
	fails := func() bool {
		tries++
		got := Run(c).Violations
		return len(got) > 0 && got[0].Invariant == first.Violations[0].Invariant
	}
	more := func() bool { return tries < maxTries }

	c.without.after = first.reached
	reduce(owners(c), c.without.owners, fails, more)
	steps := make([]int, first.reached+1)
	for i := range steps {
		steps[i] = i
	}
	for range 2 { // a step may be needed only for a fault that is not
		reduce(steps, c.without.steps, fails, more)
		steps = slices.DeleteFunc(steps, func(i int) bool { return c.without.steps[i] })
		reduce(steps, c.without.faults, fails, more)
	}

	c.Record = true
	return Run(c)
}

func owners(c Config) (all []ownership.Owner) {
	w := newWorld(c)
	defer w.end()
	for _, cluster := range w.clusters {
		for _, b := range cluster.bindings {
			all = append(all, b.owner)
		}
	}
	return all
}

// reduce leaves out as many of the items as it can, first many at once, then
// one by one.
func reduce[T comparable](items []T, out map[T]bool, fails, more func() bool) {
	for size := max(1, len(items)/2); size > 0; size /= 2 {
		for at := 0; at < len(items) && more(); at += size {
			var chunk []T
			for _, item := range items[at:min(at+size, len(items))] {
				if !out[item] {
					chunk = append(chunk, item)
					out[item] = true
				}
			}
			if len(chunk) == 0 || fails() {
				continue
			}
			for _, item := range chunk {
				delete(out, item)
			}
		}
	}
}
