package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
// all groups have been compared and all bindings are Ready, the calls of that,
// the resident memory then, which needs Linux, and the size of the binary.
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
	for i := range coldBindings {
		w.bind(b, fmt.Sprintf("web-%d", i))
	}
	for b.Loop() {
		compared := w.comparisons(coldBindings)
		w.sim.ClearJournal()
		begun := time.Now()
		process := w.controller(b, path, table.Start(b))
		wait(b, compared)
		w.allReady(b)
		b.ReportMetric(time.Since(begun).Seconds(), "s-cold-start")
		b.ReportMetric(resident(b, process.Pid), "MB-resident")
		end(b, process.Process)
	}
	b.ReportMetric(float64(w.sim.Count("", "DescribeTargetGroups")), "DescribeTargetGroups/op")
	b.ReportMetric(float64(w.sim.Count("", "DescribeTargetHealth")), "DescribeTargetHealth/op")
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

// comparisons is closed once as many groups have been listed as there are
// bindings. A binding that an earlier run left Ready says nothing.
func (w *world) comparisons(bindings int) <-chan struct{} {
	var mu sync.Mutex
	listed, all := map[string]bool{}, make(chan struct{})
	w.sim.Intercept(func(c elbsim.Call) elbsim.Fault {
		mu.Lock()
		defer mu.Unlock()
		if c.Action == "DescribeTargetHealth" && !listed[c.Group] {
			if listed[c.Group] = true; len(listed) == bindings {
				close(all)
			}
		}
		return elbsim.Fault{}
	})
	return all
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
