package cluster_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// inBubble runs the test with a clock that moves only when all goroutines of
// the test wait.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// start runs a runnable until the test ends.
func start(t *testing.T, r interface{ Start(context.Context) error }) {
	t.Helper()
	ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(io.Discard)))
	go func() {
		if err := r.Start(ctx); err != nil {
			t.Errorf("Start returned %v, which ends the process", err)
		}
		if ctx.Err() == nil {
			t.Error("Start returned before its context ended")
		}
	}()
	synctest.Wait()
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// kubeSystem is a Kubernetes API that knows the namespace kube-system.
func kubeSystem(uid types.UID) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithObjects(&corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: uid},
	})
}

var writes atomic.Int64

func newID() string { return fmt.Sprintf("write-%d", writes.Add(1)) }

// config is a heartbeat every 10 s of the cluster with the given kube-system
// UID, all of which call themselves blue.
func config(uid types.UID, registry cluster.Registry) cluster.HeartbeatConfig {
	return cluster.HeartbeatConfig{
		Live:              kubeSystem(uid).Build(),
		Registry:          registry,
		Gate:              cluster.NewGate(),
		ClusterID:         "blue",
		ControllerVersion: "v1.2.3",
		Interval:          10 * time.Second,
		NewID:             newID,
		Random:            func() float64 { return 0.5 },
	}
}

// beating starts a heartbeat and returns its gate.
func beating(t *testing.T, c cluster.HeartbeatConfig) *cluster.Gate {
	t.Helper()
	start(t, cluster.NewHeartbeat(c))
	return c.Gate
}

// journal notes when which call was made to a table.
type journal struct {
	mu    sync.Mutex
	calls []call
}

type call struct {
	memory.Op
	at time.Time
}

// intercept notes calls and answers them with fault.
func (j *journal) intercept(fault func(memory.Op) memory.Fault) func(memory.Op) memory.Fault {
	return func(op memory.Op) memory.Fault {
		j.mu.Lock()
		j.calls = append(j.calls, call{op, time.Now()})
		j.mu.Unlock()
		return fault(op)
	}
}

func (j *journal) count(kind memory.Kind) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, c := range j.calls {
		if c.Kind == kind {
			n++
		}
	}
	return n
}

func (j *journal) gaps() []time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	var gaps []time.Duration
	for i := 1; i < len(j.calls); i++ {
		gaps = append(gaps, j.calls[i].at.Sub(j.calls[i-1].at))
	}
	return gaps
}

func noFault(memory.Op) memory.Fault { return memory.Fault{} }

func refuse(err error) func(memory.Op) memory.Fault {
	return func(memory.Op) memory.Fault { return memory.Refuse(err) }
}

// entry reads the entry of blue past all faults.
func entry(t *testing.T, table *memory.Table) ownership.Cluster {
	t.Helper()
	table.Intercept(nil)
	c, err := table.Cluster(t.Context(), "blue")
	if err != nil {
		t.Fatalf("read the entry: %v", err)
	}
	return c
}

// put writes an entry over the one that is there, as an operator or another
// cluster does.
func put(t *testing.T, table *memory.Table, next ownership.Cluster) ownership.Cluster {
	t.Helper()
	all, err := table.Clusters(t.Context())
	if err != nil {
		t.Fatalf("read the entries: %v", err)
	}
	var seen ownership.Revision
	for _, c := range all.Clusters {
		if c.ID == next.ID {
			seen = c.Revision
		}
	}
	next.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: newID()}
	if err := table.PutCluster(t.Context(), next, seen); err != nil {
		t.Fatalf("write the entry: %v", err)
	}
	return next
}

// operate changes the state of blue, to one that this version knows or not.
func operate(t *testing.T, table *memory.Table, state ownership.ClusterState) {
	t.Helper()
	table.EditCluster("blue", func(c *ownership.Cluster) {
		c.State = state
		c.Revision = ownership.Revision{Version: c.Version + 1, WriteID: newID()}
	})
}

// drain empties a watcher's channel and returns how many events it had.
func drain(events <-chan cluster.GateEvent) int {
	n := 0
	for {
		select {
		case <-events:
			n++
		default:
			return n
		}
	}
}
