package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/child"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/table"
)

const (
	coldBindings = 200
	binary       = "../../bin/controller" // of make build
)

// BenchmarkColdStart starts bin/controller as a process with 200 bindings,
// each of a group of its own, and the default limits of calls: how long until
// all groups have been compared and all bindings are Ready, how long a change
// takes that comes when a tenth has been compared, to a binding that has not, the
// calls of all, the resident memory then, which needs Linux, and the size of the
// binary.
func BenchmarkColdStart(b *testing.B) {
	path, err := filepath.Abs(binary)
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatalf("%v; run make build", err)
	}
	w := prepare(b)
	groups := make([]string, coldBindings)
	for i := range groups {
		groups[i] = w.bindIn(b, namespace, nth(i))
	}
	for b.Loop() {
		compared := w.comparisons()
		tenth, all := compared.reach(coldBindings/10), compared.reach(coldBindings)
		w.sim.ClearJournal()
		begun := time.Now()
		process := w.controller(b, path, table.Lean.Start(b))
		wait(b, tenth)
		b.ReportMetric(w.change(b, compared, groups).Seconds(), "s-change-meanwhile")
		wait(b, all)
		w.allReady(b)
		b.ReportMetric(time.Since(begun).Seconds(), "s-cold-start")
		b.ReportMetric(resident(b, process.Pid), "MB-resident")
		end(b, process.Process)
	}
	b.ReportMetric(float64(w.sim.Count("", "DescribeTargetGroups")), "DescribeTargetGroups/op")
	b.ReportMetric(float64(w.sim.Count("", "DescribeTargetHealth")), "DescribeTargetHealth/op")
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

// comparisons are the groups that have been listed. A binding that an earlier run
// left Ready says nothing.
type comparisons struct {
	mu      sync.Mutex
	listed  map[string]bool
	reached map[int]chan struct{}
}

func (w *world) comparisons() *comparisons {
	c := &comparisons{listed: map[string]bool{}, reached: map[int]chan struct{}{}}
	w.sim.Intercept(func(call elbsim.Call) elbsim.Fault {
		if call.Action == "DescribeTargetHealth" {
			c.list(call.Group)
		}
		return elbsim.Fault{}
	})
	return c
}

// reach is closed once so many groups have been listed.
func (c *comparisons) reach(groups int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached[groups] = make(chan struct{})
	return c.reached[groups]
}

func (c *comparisons) list(group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed[group] {
		return
	}
	c.listed[group] = true
	if done := c.reached[len(c.listed)]; done != nil {
		close(done)
	}
}

// missing is the last of the groups that has not been listed.
func (c *comparisons) missing(b *testing.B, groups []string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, group := range slices.Backward(groups) {
		if !c.listed[group] {
			return i
		}
	}
	b.Fatal("all groups have been listed already")
	return 0
}

// change gives a Service whose group has not been listed an endpoint, and returns
// how long it takes until that is in the group.
func (w *world) change(b *testing.B, c *comparisons, groups []string) time.Duration {
	b.Helper()
	i := c.missing(b, groups)
	arrived := w.await(groups[i:i+1], i*2*perBinding)
	arrived.begin(groups[i])
	if err := w.cluster.SetEndpoints(b.Context(), namespace, nth(i), address(i*2*perBinding)); err != nil {
		b.Fatal(err)
	}
	arrived.wait(b)
	return arrived.took[0]
}

func wait(b *testing.B, done <-chan struct{}) {
	b.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		b.Fatal("not all groups were compared within 5 minutes")
	}
}

// running is a controller as a process.
type running struct {
	*child.Process
	metrics string // URL
}

func (w *world) controller(b *testing.B, path string, t *table.Table, args ...string) *running {
	b.Helper()
	address := child.Address(b)
	cmd := exec.Command(path, append([]string{
		"--cluster-id=idle", "--table=" + t.Name, "--region=" + table.Region,
		"--dynamodb-endpoint=" + t.Endpoint, "--elbv2-endpoint=" + w.sim.URL(),
		"--leader-elect=false", "--metrics-bind-address=" + address, "--health-probe-bind-address=0",
	}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig, "AWS_ACCESS_KEY_ID=idle", "AWS_SECRET_ACCESS_KEY=idle")
	process, err := child.Start(cmd, filepath.Join(b.TempDir(), "controller.log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = process.Kill() })
	return &running{process, "http://" + address + "/metrics"}
}

// calls are those that the process has made, by service.
func (r *running) calls(b *testing.B) map[string]float64 {
	b.Helper()
	response, err := http.Get(r.metrics)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	calls := map[string]float64{}
	for _, m := range families["target_ownership_aws_call_duration_seconds"].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "service" {
				calls[label.GetValue()] += float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return calls
}

func end(b *testing.B, p *child.Process) {
	b.Helper()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	<-p.Done()
}

// allReady waits until every binding says so.
func (w *world) allReady(b *testing.B) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	bindings := &v1beta1.TargetGroupBindingList{}
	err := w.cluster.Until(ctx, &v1beta1.TargetGroupBindingList{}, func(ctx context.Context) (bool, string, error) {
		if err := w.cluster.Client.List(ctx, bindings, client.InNamespace(namespace)); err != nil {
			return false, "", err
		}
		ready := 0
		for _, binding := range bindings.Items {
			if meta.IsStatusConditionTrue(binding.Status.Conditions, string(v1beta1.ConditionReady)) {
				ready++
			}
		}
		return ready == coldBindings, fmt.Sprintf("%d of %d bindings are Ready", ready, coldBindings), nil
	}, client.InNamespace(namespace))
	if err != nil {
		b.Fatal(err)
	}
}

// processor is the processor time that a process has taken, in seconds.
func processor(b *testing.B, pid int) float64 {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	// The name before it may hold anything; of what follows, the 12th and 13th
	// are user and system time in hundredths of a second (proc_pid_stat(5)).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var user, system float64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		b.Fatal(err)
	}
	return (user + system) / 100
}

// resident is the resident memory of a process, in MB.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			var kb float64
			if _, err := fmt.Sscan(rest, &kb); err != nil {
				b.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	b.Fatalf("no VmRSS of process %d", pid)
	return 0
}
