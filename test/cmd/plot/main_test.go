package main

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"gonum.org/v1/plot/plotter"
)

// output is that of go test -bench for every chart, with two runs each.
func output() string {
	var lines []string
	for _, c := range charts {
		for _, x := range []int{10, 20} {
			result := fmt.Sprintf("Benchmark%s/things=%d-2 1", c.benchmark, x)
			for _, l := range c.lines {
				result += fmt.Sprintf(" %d %s", x*3, l.unit)
			}
			lines = append(lines, result)
		}
	}
	return strings.Join(lines, "\n")
}

func TestEveryChartIsDrawn(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	from := filepath.Join(dir, "bench.txt")
	g.Expect(os.WriteFile(from, []byte("goos: linux\n"+output()+"\nPASS\n"), 0o600)).To(Succeed())
	g.Expect(run(dir, []string{from})).To(Succeed())
	for _, c := range charts {
		f, err := os.Open(filepath.Join(dir, c.file))
		g.Expect(err).NotTo(HaveOccurred())
		image, err := png.Decode(f)
		g.Expect(err).NotTo(HaveOccurred(), c.file)
		g.Expect(image.Bounds().Dx()).To(BeNumerically(">", 500), c.file)
		g.Expect(f.Close()).To(Succeed())
	}
}

func TestPointsAreThoseOfTheOutput(t *testing.T) {
	g := NewWithT(t)
	all, err := read(strings.NewReader("BenchmarkScale/bindings=100-2 1 0.8 s-cold-start\nnoise\nBenchmarkOther-2 1 5 s-cold-start\n"+
		"BenchmarkScale/kept-2 1 5 s-cold-start\nBenchmarkScale/bindings=300-2 1 1.4 s-cold-start\n"), "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(Equal(figures{"Scale s-cold-start": plotter.XYs{{X: 100, Y: 0.8}, {X: 300, Y: 1.4}}}))
}

func TestAFigureThatWasNotMeasuredIsNamed(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	from := filepath.Join(dir, "bench.txt")
	without := strings.ReplaceAll(output(), "MB-resident", "MB")
	g.Expect(os.WriteFile(from, []byte(without), 0o600)).To(Succeed())
	g.Expect(run(dir, []string{from})).To(MatchError("memory.png: benchmark Scale has 0 values of MB-resident; run make bench"))
	g.Expect(run(dir, nil)).To(MatchError(ContainSubstring("name one file")))
	g.Expect(run(dir, []string{filepath.Join(dir, "none")})).To(MatchError(os.ErrNotExist))
}
