package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/table"
)

// perBinding is how many targets each binding of BenchmarkScale has.
const perBinding = 100

// BenchmarkScale has one controller, a process of bin/controller, look after
// bindings of 100 targets each. The limits of calls are raised, so that the
// figures are those of the controller: the first start, a start that finds its
// records, everything replaced at once, and what a minute of rest takes.
func BenchmarkScale(b *testing.B) {
	path, err := filepath.Abs(binary)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		b.Fatalf("%v; run make build", err)
	}
	for _, bindings := range []int{100, 300, 1000} {
		b.Run(fmt.Sprintf("bindings=%d", bindings), func(b *testing.B) {
			w := prepare(b)
			groups := make([]string, bindings)
			for i := range groups {
				groups[i] = w.bindIn(b, namespace, nth(i))
				w.scale(b, i, 0)
			}
			args := []string{
				"--elb-read-rate=1000:1000", "--elb-mutation-rate=1000:1000", "--compare-period=1m", "--history-retention=0",
			}
			for b.Loop() {
				t := table.Lean.Start(b) // others take more of the processor than the controller
				arrived := w.await(groups, 0)
				begun := time.Now()
				process := w.controller(b, path, t, args...)
				arrived.wait(b)
				b.ReportMetric(time.Since(begun).Seconds(), "s-first-start")
				end(b, process.Process)

				compared := w.comparisons().reach(bindings)
				begun = time.Now()
				process = w.controller(b, path, t, args...)
				wait(b, compared)
				b.ReportMetric(time.Since(begun).Seconds(), "s-cold-start")
				b.ReportMetric(processor(b, process.Pid), "s-cold-start-processor")
				b.ReportMetric(resident(b, process.Pid), "MB-resident")

				arrived = w.await(groups, perBinding)
				for i := range groups {
					arrived.begin(groups[i])
					w.scale(b, i, perBinding)
				}
				arrived.wait(b)
				latency := spreadOf(arrived.took)
				b.ReportMetric(latency.Median, "ms-write-to-registered-median")
				b.ReportMetric(latency.P95, "ms-write-to-registered-p95")

				<-time.After(time.Minute) // what is replaced drains, and is compared once more
				before := process.calls(b)
				<-time.After(time.Minute)
				for service, n := range process.calls(b) {
					b.ReportMetric(n-before[service], strings.ReplaceAll(service, " ", "-")+"-calls/minute")
				}
				end(b, process.Process)
			}
		})
	}
}

func nth(i int) string { return fmt.Sprintf("web-%d", i) }

// scale gives the i-th Service targets that no other has, from the first-th on.
func (w *world) scale(b *testing.B, i, first int) {
	b.Helper()
	addresses := make([]string, perBinding)
	for n := range addresses {
		addresses[n] = address(i*2*perBinding + first + n)
	}
	if err := w.cluster.SetEndpoints(b.Context(), namespace, nth(i), addresses...); err != nil {
		b.Fatal(err)
	}
}

// arrivals waits until each group has a target, and keeps how long that took.
type arrivals struct {
	mu    sync.Mutex
	wants map[string]string // by group
	since map[string]time.Time
	took  []time.Duration
	done  chan struct{}
}

// await expects in each group the first target of scale.
func (w *world) await(groups []string, first int) *arrivals {
	a := &arrivals{wants: map[string]string{}, since: map[string]time.Time{}, done: make(chan struct{})}
	for i, group := range groups {
		a.wants[group] = fmt.Sprintf("%s:%d", address(i*2*perBinding+first), kube.TargetPort)
	}
	var cancel func()
	cancel = w.sim.Observe(func(m elbsim.Mutation) {
		if a.arrived(m) {
			close(a.done)
			go cancel()
		}
	})
	return a
}

func (a *arrivals) begin(group string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since[group] = time.Now()
}

// arrived reports whether a change was the last one that is waited for.
func (a *arrivals) arrived(m elbsim.Mutation) (all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	group := m.Call.Group
	target, waiting := a.wants[group]
	if !waiting || !slices.Contains(elbsim.Registered(m.Targets), target) {
		return false
	}
	delete(a.wants, group)
	a.took = append(a.took, time.Since(a.since[group]))
	return len(a.wants) == 0
}

func (a *arrivals) wait(b *testing.B) {
	b.Helper()
	select {
	case <-a.done:
	case <-time.After(10 * time.Minute):
		b.Fatalf("after 10 minutes %d groups do not have their targets", len(a.wants))
	}
}
