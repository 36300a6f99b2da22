package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/child"
	"target-ownership-controller/test/table"
)

const (
	idleBindings = 200
	binary       = "../../bin/controller" // of make build
)

// BenchmarkIdle runs bin/controller as a process with 200 bindings of
// one group, until all are Ready: the size of the binary and
// the resident memory then. It needs Linux for the latter.
func BenchmarkIdle(b *testing.B) {
	path, err := filepath.Abs(binary)
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatalf("%v; run make build", err)
	}
	w := prepare(b)
	for i := range idleBindings {
		w.bind(b, fmt.Sprintf("web-%d", i))
	}
	for b.Loop() {
		process := w.process(b, path)
		w.allReady(b)
		b.ReportMetric(resident(b, process.Pid), "MB-resident")
		end(b, process)
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

func (w *world) process(b *testing.B, path string) *child.Process {
	b.Helper()
	t := table.Start(b)
	cmd := exec.Command(path,
		"--cluster-id=idle", "--table="+t.Name, "--region="+table.Region,
		"--dynamodb-endpoint="+t.Endpoint, "--elbv2-endpoint="+w.sim.URL(),
		"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig, "AWS_ACCESS_KEY_ID=idle", "AWS_SECRET_ACCESS_KEY=idle")
	process, err := child.Start(cmd, filepath.Join(b.TempDir(), "controller.log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = process.Kill() })
	return process
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
		return ready == idleBindings, fmt.Sprintf("%d of %d bindings are Ready", ready, idleBindings), nil
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
