package bench

import (
	"runtime"
	"strings"
	"testing"
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
	runtime.MemProfileRate = 1
	before := ofControllers()
	for range allocationRounds {
		s.replace(b, n, k)
	}
	after := ofControllers()
	runtime.MemProfileRate = rate
	if after.objects == before.objects {
		b.Fatalf("%s: no allocation was noted", s.name)
	}
	return allocations{(after.objects - before.objects) / allocationRounds, (after.bytes - before.bytes) / allocationRounds}
}

// ofControllers adds up what this process has allocated in the controllers'
// goroutines while each allocation was noted.
func ofControllers() (total allocations) {
	for range 2 {
		runtime.GC() // a profile is that of the last cycle but one
	}
	records := make([]runtime.MemProfileRecord, 1000)
	n, ok := runtime.MemProfile(records, true)
	for ; !ok; n, ok = runtime.MemProfile(records, true) {
		records = make([]runtime.MemProfileRecord, 2*n)
	}
	for _, r := range records[:n] {
		if !ofHarness(r.Stack()) {
			total.objects += float64(r.AllocObjects)
			total.bytes += float64(r.AllocBytes)
		}
	}
	return total
}

// harness are functions that no controller calls: those of the servers, which
// only the stand-ins are, of the benchmark, and of the recorder.
var harness = []string{"net/http.(*conn).", "net/http.(*connReader).", "net/http.(*Server).", "testing.(*B).", "bench.drain", "bench.ofControllers"}

func ofHarness(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		for _, name := range harness {
			if strings.Contains(frame.Function, name) {
				return true
			}
		}
		if !more {
			return false
		}
	}
}
