package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// atATime is how many searches run beside each other.
const atATime = 2

// Verify runs every configuration and every mutation, and prints a line for
// each and a last one with the counts. It is an error if a promise is broken,
// a search was not complete, or a mutation was not caught.
func Verify(ctx context.Context, out io.Writer, spin, dir string) error {
	names, err := rules(dir)
	if err != nil {
		return err
	}
	v := verification{out: out, spin: spin, model: filepath.Join(dir, "ownership.pml"), rules: names}
	fmt.Fprintf(out, "protocol: %d searches, %d at a time\n", len(configurations)+len(mutations), atATime)
	safe, unsafe, caught := v.all(ctx)
	fmt.Fprintf(out, "protocol: safe in %d models; %d of %d mutations caught\n", safe, caught, len(mutations))
	if unsafe > 0 || caught < len(mutations) {
		return errors.New("the model does not hold what the protocol promises, or a search failed")
	}
	return nil
}

type verification struct {
	out         io.Writer
	spin, model string
	rules       []string
}

// all starts the configurations first, since they take longest, and prints in
// the same order. A model is safe if all its configurations are.
func (v verification) all(ctx context.Context) (safe, unsafe, caught int) {
	var jobs []func() verdict
	for _, c := range configurations {
		jobs = append(jobs, func() verdict { return v.holds(ctx, c) })
	}
	for _, m := range mutations {
		jobs = append(jobs, func() verdict { return v.catches(ctx, m) })
	}
	verdicts := begin(jobs)
	well := map[string]bool{}
	for i, c := range configurations {
		before, seen := well[c.model]
		well[c.model] = v.print(<-verdicts[i]) && (before || !seen)
	}
	for _, ok := range well {
		if ok {
			safe++
		}
	}
	for i := range mutations {
		if v.print(<-verdicts[len(configurations)+i]) {
			caught++
		}
	}
	return safe, len(well) - safe, caught
}

// verdict is a line to print, and whether all is well.
type verdict struct {
	well bool
	text string
}

// begin runs the jobs in their order.
func begin(jobs []func() verdict) []chan verdict {
	verdicts := make([]chan verdict, len(jobs))
	for i := range verdicts {
		verdicts[i] = make(chan verdict, 1)
	}
	slots := make(chan struct{}, atATime)
	go func() {
		for i, job := range jobs {
			slots <- struct{}{}
			go func() {
				verdicts[i] <- job()
				<-slots
			}()
		}
	}()
	return verdicts
}

func (v verification) print(d verdict) (well bool) {
	fmt.Fprintln(v.out, d.text)
	return d.well
}

func (v verification) holds(ctx context.Context, c configuration) verdict {
	f, err := search{spin: v.spin, model: v.model, macros: c.macros, live: c.live}.run(ctx)
	switch {
	case err != nil:
		return verdict{text: fmt.Sprintf("  FAILED    %s: %v", c, err)}
	case f.breaks != "":
		return verdict{text: fmt.Sprintf("  BROKEN    %s, %s:\n%s", f.breaks, c, indent(f.story))}
	}
	return verdict{true, fmt.Sprintf("  safe      %s: %s", c, figures(f))}
}

func (v verification) catches(ctx context.Context, m mutation) verdict {
	if !slices.Contains(v.rules, m.macro) {
		return verdict{text: fmt.Sprintf("  FAILED    %s: the model has no rule %s", m.rule, m.macro)}
	}
	macros := append(slices.Clone(m.in.macros), m.macro+"=0")
	f, err := search{spin: v.spin, model: v.model, macros: macros, live: m.in.live, small: true}.run(ctx)
	switch {
	case err != nil:
		return verdict{text: fmt.Sprintf("  FAILED    %s: %v", m.rule, err)}
	case f.breaks == "":
		return verdict{text: fmt.Sprintf("  SURVIVED  %s: nothing breaks, %s, %s", m.rule, m.in.model, figures(f))}
	case f.breaks != m.breaks:
		return verdict{text: fmt.Sprintf("  FAILED    %s: breaks %s, want %s:\n%s", m.rule, f.breaks, m.breaks, indent(f.story))}
	}
	return verdict{true, fmt.Sprintf("  caught    %s: %s breaks, %s, %s", m.rule, f.breaks, m.in.model, figures(f))}
}

func (c configuration) String() string {
	promises := "S1, S2, S3"
	if c.live {
		promises = "L1"
	}
	if c.bounds != "" {
		promises += ", " + c.bounds
	}
	return c.model + " (" + promises + ")"
}

func figures(f found) string {
	return fmt.Sprintf("%d states, %.1f s", f.states, f.took.Seconds())
}

func indent(lines []string) string {
	return "              " + strings.Join(lines, "\n              ")
}
