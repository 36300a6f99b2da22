// chaos runs the simulation of ownership/simulation from many seeds, checks
// that our method keeps every promise, and runs the method of a list per
// binding through the same troubles to compare. `make chaos` runs it.
//
// Exit status: 0 if no promise was broken, else 1, with the shortest history
// that was found for the first seed that broke one.
package main

import (
	"flag"
	"fmt"
	"os"
	"text/tabwriter"

	"target-ownership-controller/ownership/simulation"
	"target-ownership-controller/test/peer"
)

func main() {
	seeds := flag.Uint64("seeds", 4000, "number of runs")
	from := flag.Uint64("from", 0, "first seed")
	compared := flag.Uint64("compare", 400, "number of runs of each method for the comparison; 0 for none")
	flag.Parse()

	ours := run(simulation.Config{}, *from, *seeds)
	ours.print()
	if *compared > 0 {
		compare(*from, *compared)
	}
	if ours.failed != nil {
		fmt.Println()
		fmt.Println(simulation.Shrink(*ours.failed))
		os.Exit(1)
	}
	fmt.Printf("chaos: %d steps in %d runs, 0 violations\n", ours.steps, ours.runs)
}

func (t *totals) print() {
	fmt.Printf("%s, %.0f s, %.0f steps/s\n\n", simulation.Protocol{}.Name(), t.took.Seconds(), float64(t.steps)/t.took.Seconds())
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "runs\t%d\t\n", t.runs)
	fmt.Fprintf(w, "steps\t%d\t\n", t.steps)
	fmt.Fprintf(w, "addresses moved between clusters\t%d\t\n", t.moves)
	fmt.Fprintf(w, "targets taken out\t%d\t\n", t.removals)
	fmt.Fprintf(w, "faults\t%d\t\n", t.allFaults())
	for _, name := range sorted(t.faults) {
		fmt.Fprintf(w, "%s\t%d\t\n", name, t.faults[name])
	}
	for _, i := range simulation.Invariants {
		fmt.Fprintf(w, "violations of %s\t%d\t\n", i, t.violations[i])
	}
	w.Flush()
	fmt.Println()
}

// compare runs every method through the same worlds. Exclusive bindings are
// left out: they are no part of the peer's method.
func compare(from, runs uint64) {
	fmt.Printf("%d runs of each method, per thousand addresses that moved between clusters:\n\n", runs)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "method\tmoves\tforeign removals\twithin a cluster\tleaks\tlosses\tseconds\t")
	for _, m := range []simulation.Method{simulation.Protocol{}, peer.Method{}, peer.Method{SkipUnchanged: true}} {
		t := run(simulation.Config{Method: m, Shared: true, Count: true}, from, runs)
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%.0f\t\n", m.Name(), t.moves,
			t.perThousandMoves(t.across), t.perThousandMoves(t.violations[simulation.S1]-t.across),
			t.perThousandMoves(t.violations[simulation.L1Left]), t.perThousandMoves(t.violations[simulation.L1Missing]), t.took.Seconds())
	}
	w.Flush()
	fmt.Print(`
foreign removal:  a target was taken out that a binding of another cluster recorded and counted on
within a cluster: the same, by another binding of the same cluster
leak:             at the end the group has a target that nobody wants, and no record says whose it was
loss:             at the end a target that is wanted is not in the group

`)
}

func (t *totals) perThousandMoves(n int) string {
	return fmt.Sprintf("%.1f (%d)", 1000*float64(n)/float64(max(1, t.moves)), n)
}
