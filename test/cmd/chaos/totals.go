package main

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"target-ownership-controller/ownership/simulation"
)

// totals are what many runs came to.
type totals struct {
	runs, steps, moves, removals int
	took                         time.Duration
	faults                       map[string]int
	violations                   map[simulation.Invariant]int
	across                       int                // violations of S1 between clusters
	failed                       *simulation.Config // the run of the first seed that broke a promise
}

// run carries out the runs of so many seeds, on all processors.
func run(c simulation.Config, from, seeds uint64) *totals {
	t := &totals{faults: map[string]int{}, violations: map[simulation.Invariant]int{}}
	begun := time.Now()
	next := make(chan uint64)
	outcomes := make(chan simulation.Outcome)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := range next {
				one := c
				one.Seed = seed
				outcomes <- simulation.Run(one)
			}
		})
	}
	go func() {
		for seed := from; seed < from+seeds; seed++ {
			next <- seed
		}
		close(next)
		workers.Wait()
		close(outcomes)
	}()
	for o := range outcomes {
		t.add(c, o)
	}
	t.took = time.Since(begun)
	return t
}

func (t *totals) add(c simulation.Config, o simulation.Outcome) {
	t.runs++
	t.steps += o.Steps
	t.moves += o.Moves
	t.removals += o.Removals
	for name, n := range o.Faults {
		t.faults[name] += n
	}
	for _, v := range o.Violations {
		t.violations[v.Invariant]++
		if v.By.Cluster != v.Holder.Cluster {
			t.across++
		}
	}
	if len(o.Violations) > 0 && (t.failed == nil || o.Seed < t.failed.Seed) {
		c.Seed = o.Seed
		t.failed = &c
	}
}

func (t *totals) allFaults() (n int) {
	for _, count := range t.faults {
		n += count
	}
	return n
}

func sorted(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
