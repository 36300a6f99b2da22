package bench

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"
)

// The latencies of the services.
var (
	elbLatency   = flag.Duration("elb-latency", 30*time.Millisecond, "of a call to the load balancer")
	tableLatency = flag.Duration("table-latency", 5*time.Millisecond, "of a call to the table")
	rounds       = flag.Int("rounds", 10, "how often each change is made")
	output       = flag.String("figures", "", "file for the figures, as JSON")
)

// contenders are compared. The last is what the others are a ratio of.
var contenders = []struct {
	name, namespace string
	start           func(*testing.B, *side)
}{
	{"records in a table", "table", inTable},
	{"the same, table of no cost", "memory", inMemory},
	{"no ownership", "none", runLists(false)},
	{"list in a ConfigMap", "list", runLists(true)},
}

var sizes = []int{1, 150, 1000, 3000}

// BenchmarkCompare replaces pods of one binding: one, a tenth, and all. The
// methods take turns, so that the noise of the machine meets them alike.
func BenchmarkCompare(b *testing.B) {
	w := prepare(b)
	var sides []*side
	for _, c := range contenders {
		s := w.side(b, c.name, c.namespace)
		w.setQuota(b, s.group, 10*slices.Max(sizes))
		c.start(b, s)
		sides = append(sides, s)
	}
	for b.Loop() {
		var rows []row
		for _, n := range sizes {
			for _, s := range sides {
				s.replace(b, n, n-len(s.addresses))
			}
			for _, k := range slices.Compact([]int{1, max(n/10, 1), n}) {
				rows = append(rows, compare(b, sides, n, k)...)
			}
		}
		print(rows)
		save(b, rows)
	}
}

func compare(b *testing.B, sides []*side, n, k int) []row {
	b.Helper()
	samples := make([][]sample, len(sides))
	for range *rounds {
		for i, s := range sides {
			samples[i] = append(samples[i], s.replace(b, n, k))
		}
	}
	rows := make([]row, len(sides))
	for i, s := range sides {
		rows[i] = summary(s.name, n, k, samples[i])
		allocated := s.allocates(b, n, k)
		rows[i].Allocations, rows[i].AllocatedBytes = allocated.objects, allocated.bytes
	}
	for i := range rows {
		rows[i].compare(rows[len(rows)-1])
	}
	return rows
}

// row is one method and one change. Times are milliseconds from the event of
// the EndpointSlice, in the cache of the controller, to the last answer.
type row struct {
	Method   string `json:"method"`
	Targets  int    `json:"targets"`
	Replaced int    `json:"replaced"`

	Registered   spread             `json:"registeredMs"`
	Deregistered spread             `json:"deregisteredMs"`
	Pass         spread             `json:"passMs"`
	Calls        map[string]float64 `json:"callsPerChange"`
	Bytes        float64            `json:"bytesPerChange"` // of the bodies of all calls

	Allocations    float64 `json:"allocationsPerChange"`
	AllocatedBytes float64 `json:"allocatedBytesPerChange"`

	RegisteredRatio float64 `json:"registeredRatio"`
	PassRatio       float64 `json:"passRatio"`
}

type spread struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
}

func spreadOf(took []time.Duration) spread {
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return spread{ms(took[len(took)/2]), ms(took[len(took)*95/100])}
}

func summary(method string, n, k int, samples []sample) row {
	r := row{Method: method, Targets: n, Replaced: k, Calls: map[string]float64{}}
	var registered, deregistered, passes []time.Duration
	for _, s := range samples {
		registered, deregistered, passes = append(registered, s.registered), append(deregistered, s.deregistered), append(passes, s.pass)
		for kind, count := range s.calls {
			r.Calls[kind] += float64(count) / float64(len(samples))
		}
		r.Bytes += float64(s.bytes) / float64(len(samples))
	}
	r.Registered, r.Deregistered, r.Pass = spreadOf(registered), spreadOf(deregistered), spreadOf(passes)
	return r
}

func (r *row) compare(base row) {
	r.RegisteredRatio = r.Registered.Median / base.Registered.Median
	r.PassRatio = r.Pass.Median / base.Pass.Median
}

// calls adds up the kinds of one service.
func (r row) calls(kinds ...string) (total float64) {
	for _, kind := range kinds {
		total += r.Calls[kind]
	}
	return total
}

func print(rows []row) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "method\ttargets\treplaced\tregistered ms\tp95\tratio\tderegistered ms\tp95\tpass ms\tp95\tratio\tELB calls\ttable calls\tKubernetes writes\tKB\tallocations\tKB allocated\t")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t%.1f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f\t%.1f\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\t\n",
			r.Method, r.Targets, r.Replaced, r.Registered.Median, r.Registered.P95, r.RegisteredRatio,
			r.Deregistered.Median, r.Deregistered.P95, r.Pass.Median, r.Pass.P95, r.PassRatio,
			r.calls("DescribeTargetHealth", "RegisterTargets", "DeregisterTargets"),
			r.calls("Query", "GetItem", "PutItem", "DeleteItem"), r.calls(kubernetesWrite, kubernetesEvent), r.Bytes/1000,
			r.Allocations, r.AllocatedBytes/1000)
	}
	_ = t.Flush()
}

func save(b *testing.B, rows []row) {
	b.Helper()
	if *output == "" {
		return
	}
	content, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(*output, append(content, '\n'), 0o600); err != nil {
		b.Fatal(err)
	}
}
