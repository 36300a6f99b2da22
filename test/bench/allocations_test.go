package bench

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// allocations are those of a controller, and of its clients of all services.
type allocations struct{ objects, bytes float64 }

// allocationRounds is how often a change is made with each allocation noted.
// That takes time, so these rounds are no others'.
const allocationRounds = 3

// allocates returns what a controller allocates for one change, in the mean.
// The other controllers of the process are at rest.
func (s *side) allocates(b *testing.B, n, k int) allocations {
	b.Helper()
	rate := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = rate }()
	before := ofControllers(b)
	runtime.MemProfileRate = 1
	for range allocationRounds {
		s.replace(b, n, k)
	}
	after := ofControllers(b)
	if after.objects == before.objects {
		b.Fatalf("%s: no allocation was noted", s.name)
	}
	return allocations{(after.objects - before.objects) / allocationRounds, (after.bytes - before.bytes) / allocationRounds}
}

// ofControllers adds up what the controllers' goroutines have allocated while
// each allocation was noted. It ends the noting: of samples a profile is scaled.
func ofControllers(b *testing.B) (total allocations) {
	b.Helper()
	runtime.MemProfileRate = 0
	for range 2 {
		runtime.GC() // a profile is that of the last cycle but one
	}
	var written bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&written, 0); err != nil {
		b.Fatal(err)
	}
	p, err := profile.Parse(&written)
	if err != nil {
		b.Fatal(err)
	}
	ofHarness := map[*profile.Function]bool{}
	for _, f := range p.Function {
		ofHarness[f] = slices.ContainsFunc(harness, func(name string) bool { return strings.Contains(f.Name, name) })
	}
	for _, s := range p.Sample {
		if !slices.ContainsFunc(s.Location, func(l *profile.Location) bool {
			return slices.ContainsFunc(l.Line, func(l profile.Line) bool { return ofHarness[l.Function] })
		}) {
			total.objects += float64(s.Value[0])
			total.bytes += float64(s.Value[1])
		}
	}
	return total
}

// harness are functions that no controller calls: those of the servers, which
// only the stand-ins are, of the benchmark, and of the recorder.
var harness = []string{"net/http.(*conn).", "net/http.(*connReader).", "net/http.(*Server).", "testing.(*B).", "bench.drain"}
