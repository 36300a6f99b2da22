// Command plot draws how the figures of benchmarks grow.
//
//	plot -to docs/performance bin/bench.txt
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

func main() {
	to := flag.String("to", ".", "directory of the images")
	flag.Parse()
	if err := run(*to, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "plot: %v\n", err)
		os.Exit(1)
	}
}

func run(to string, files []string) error {
	if len(files) != 1 {
		return fmt.Errorf("name one file with the output of go test -bench, not %d", len(files))
	}
	f, err := os.Open(files[0])
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := read(f, files[0])
	if err != nil {
		return err
	}
	for _, c := range charts {
		if err := c.draw(all, to); err != nil {
			return fmt.Errorf("%s: %w", c.file, err)
		}
	}
	return nil
}

// figures are the values of a benchmark's unit, such as Scale and MB-resident,
// over the number in the names of its runs.
type figures map[string]plotter.XYs

func key(benchmark, unit string) string { return benchmark + " " + unit }

func read(from io.Reader, name string) (figures, error) {
	all, results := figures{}, benchfmt.NewReader(from, name)
	for results.Scan() {
		result, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue // what is no result is for people
		}
		base, parts := result.Name.Parts()
		if len(parts) == 0 {
			continue
		}
		_, number, _ := strings.Cut(string(parts[0]), "=")
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue // a run that is no point of a curve
		}
		for _, v := range result.Values {
			value, unit := written(v)
			k := key(string(base), unit)
			all[k] = append(all[k], plotter.XY{X: x, Y: value})
		}
	}
	return all, results.Err()
}

// written is a value as the benchmark reported it: benchfmt makes MB into B.
func written(v benchfmt.Value) (float64, string) {
	if v.OrigUnit != "" {
		return v.OrigValue, v.OrigUnit
	}
	return v.Value, v.Unit
}

// draw makes one image. A figure that was not measured is an error, so that no
// image is of another run than the others.
func (c chart) draw(all figures, to string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.x, c.y
	p.X.Min, p.Y.Min = 0, 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	var lines []any
	for _, l := range c.lines {
		points := all[key(c.benchmark, l.unit)]
		if len(points) < 2 {
			return fmt.Errorf("benchmark %s has %d values of %s; run make bench", c.benchmark, len(points), l.unit)
		}
		lines = append(lines, l.name, points)
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return err
	}
	p.Y.Max *= 1.3 // room for the legend
	p.X.Padding, p.Y.Padding = vg.Points(4), vg.Points(4)
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, filepath.Join(to, c.file))
}
