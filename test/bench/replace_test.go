// Package bench measures the controller: passes at injected latencies, and
// what an idle process costs. It prints figures and asserts none.
package bench

import (
	"testing"
	"time"
)

// targets is the size at which methods to share a group were first compared.
const targets = 150

// BenchmarkReplaceOnePod has 150 targets in a shared group and replaces one
// pod: the time to its registration in the group, from before the
// EndpointSlice is written and from the event that tells the controller, with
// the calls that it took.
func BenchmarkReplaceOnePod(b *testing.B) {
	s := prepare(b).side(b, "records in a table", "replace")
	inTable(b, s)
	s.replace(b, targets, targets)

	var samples []sample
	var fromWrite []time.Duration
	b.ResetTimer()
	for b.Loop() {
		m := s.replace(b, targets, 1)
		samples, fromWrite = append(samples, m), append(fromWrite, m.delivered+m.registered)
	}
	b.StopTimer()
	r := summary(s.name, targets, 1, samples)
	report(b, "write-to-registered-ms", spreadOf(fromWrite))
	report(b, "event-to-registered-ms", r.Registered)
	report(b, "event-to-deregistered-ms", r.Deregistered)
	report(b, "pass-ms", r.Pass)
	for kind, n := range r.Calls {
		b.ReportMetric(n, kind+"/op")
	}
}

func report(b *testing.B, unit string, s spread) {
	b.ReportMetric(s.Median, unit+"-median")
	b.ReportMetric(s.P95, unit+"-p95")
}
