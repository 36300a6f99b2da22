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
	safe, caught := v.all(ctx)
	fmt.Fprintf(out, "protocol: safe in %d models; %d of %d mutations caught\n", safe, caught, len(mutations))
	if safe < len(configurations) || caught < len(mutations) {
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
// the same order.
func (v verification) all(ctx context.Context) (safe, caught int) {
	var jobs []func() verdict
	for _, c := range configurations {
		jobs = append(jobs, func() verdict { return v.holds(ctx, c) })
	}
	for _, m := range mutations {
		jobs = append(jobs, func() verdict { return v.catches(ctx, m) })
	}
	verdicts := begin(jobs)
	return v.report(verdicts[:len(configurations)]), v.report(verdicts[len(configurations):])
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

func (v verification) report(verdicts []chan verdict) (well int) {
	for _, done := range verdicts {
		d := <-done
		fmt.Fprintln(v.out, d.text)
		if d.well {
			well++
		}
	}
	return well
}

func (v verification) holds(ctx context.Context, c configuration) verdict {
	f, err := search{v.spin, v.model, c.macros, c.live}.run(ctx)
	switch {
	case err != nil:
		return verdict{text: fmt.Sprintf("  FAILED    %s: %v", c.name, err)}
	case f.breaks != "":
		return verdict{text: fmt.Sprintf("  BROKEN    %s, %s:\n%s", f.breaks, c.name, indent(f.story))}
	}
	return verdict{true, fmt.Sprintf("  safe      %s (%s): %s", c.name, promises(c.live), figures(f))}
}

func (v verification) catches(ctx context.Context, m mutation) verdict {
	if !slices.Contains(v.rules, m.macro) {
		return verdict{text: fmt.Sprintf("  FAILED    %s: the model has no rule %s", m.rule, m.macro)}
	}
	f, err := search{v.spin, v.model, append(slices.Clone(m.in.macros), m.macro+"=0"), m.in.live}.run(ctx)
	switch {
	case err != nil:
		return verdict{text: fmt.Sprintf("  FAILED    %s: %v", m.rule, err)}
	case f.breaks == "":
		return verdict{text: fmt.Sprintf("  SURVIVED  %s: nothing breaks, %s, %s", m.rule, m.in.name, figures(f))}
	case f.breaks != m.breaks:
		return verdict{text: fmt.Sprintf("  FAILED    %s: breaks %s, want %s:\n%s", m.rule, f.breaks, m.breaks, indent(f.story))}
	}
	return verdict{true, fmt.Sprintf("  caught    %s: %s breaks, %s, %s", m.rule, f.breaks, m.in.name, figures(f))}
}

func promises(live bool) string {
	if live {
		return "L1"
	}
	return "S1, S2, S3"
}

func figures(f found) string {
	return fmt.Sprintf("%d states, %.1f s", f.states, f.took.Seconds())
}

func indent(lines []string) string {
	return "              " + strings.Join(lines, "\n              ")
}
