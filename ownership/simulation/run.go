package simulation

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"target-ownership-controller/ownership"
)

// Config says what to run.
type Config struct {
	Seed   uint64
	Method Method // nil: Protocol
	// Shared leaves out exclusive bindings, which not every method has.
	Shared bool
	// Count goes on after a violation, to count them all.
	Count bool
	// Record keeps the history.
	Record bool

	without mask
}

// Outcome is what a run came to.
type Outcome struct {
	Seed       uint64
	World      string // its size and rules
	Steps      int
	Moves      int // of an address to another cluster
	Removals   int // of a target from the group
	Faults     map[string]int
	Violations []Violation
	History    []string // with Config.Record

	reached int // the last step of the troubled part
}

// Invariant is a promise that a run checks.
type Invariant string

// The invariants. L1 is told apart by what is wrong at the end.
const (
	S1        Invariant = "S1"
	S2        Invariant = "S2"
	S3        Invariant = "S3"
	L1Missing Invariant = "L1 missing" // a wanted target is not in the group
	L1Left    Invariant = "L1 left"    // a target is in the group that nobody wants
	L1Record  Invariant = "L1 record"  // a record is not what its binding wants
	L1Quiet   Invariant = "L1 quiet"   // a further pass makes calls
)

// Invariants are all of them.
var Invariants = []Invariant{S1, S2, S3, L1Missing, L1Left, L1Record, L1Quiet}

// Violation is a promise that was broken.
type Violation struct {
	Invariant Invariant
	Text      string
	// Of S1: who took the target out, and who holds it.
	By, Holder ownership.Owner
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s", v.Invariant, v.Text) }

// String tells the whole story of a failed run.
func (o Outcome) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %s", o.Seed, o.World)
	for _, v := range o.Violations {
		fmt.Fprintf(&b, "\n%s", v)
	}
	for _, line := range o.History {
		fmt.Fprintf(&b, "\n%s", line)
	}
	return b.String()
}

// Run carries out one run. It ends with the first violation, unless it is to
// count them.
func Run(c Config) Outcome {
	w := newWorld(c)
	defer w.end()
	for last := cmp.Or(c.without.after, w.shape.steps); w.step <= last && !w.over(); w.next() {
		if !c.without.steps[w.step] {
			w.act()
			w.checkRecorded()
		}
	}
	w.outcome.reached = w.step
	if !w.over() {
		w.settle()
		w.checkConverged()
	}
	return w.outcome
}

func (w *world) over() bool { return !w.config.Count && len(w.outcome.Violations) > 0 }

// next begins a step. Each draws from a source of its own, so that leaving
// out one step leaves the choices of the others as they are.
func (w *world) next() {
	w.step++
	w.source.Seed(w.config.Seed, uint64(w.step))
}

// chance draws whether a fault happens. faults counts it.
func (w *world) chance(percent int, fault string) bool {
	hit := w.random.IntN(200) < percent*w.shape.faults
	if !hit || w.calm || w.config.without.faults[w.step] {
		return false
	}
	w.fault(fault)
	return true
}

func (w *world) fault(name string) { w.outcome.Faults[name]++ }

func (w *world) coin() bool { return w.random.IntN(2) == 0 }

func (w *world) log(format string, args ...any) {
	if w.config.Record {
		at := w.clock.now.Sub(NewClock().now).Round(time.Second)
		w.outcome.History = append(w.outcome.History, fmt.Sprintf("%7s  ", at)+fmt.Sprintf(format, args...))
	}
}

func (w *world) violated(i Invariant, format string, args ...any) {
	w.report(Violation{Invariant: i, Text: fmt.Sprintf(format, args...)})
}

func (w *world) report(v Violation) {
	w.outcome.Violations = append(w.outcome.Violations, v)
	w.log("VIOLATED %s", v)
}
