package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// blow is what befalls one call of a heartbeat: it takes effect or not, its
// reply comes or not, and its process lives on or not.
type blow struct {
	applied, dies bool
}

var blows = map[string]blow{
	"the process dies before it": {false, true},
	"the process dies after it":  {true, true},
	"it is lost":                 {false, false},
	"its reply is lost":          {true, false},
}

// Each call of the start and of the heartbeats that follow is hit in turn.
// Nothing is touched while the ID is unclaimed, the next process or the next
// renewal claims it, and the entry says what it should.
func TestCase8AnyCallOfAHeartbeatMayBeTheLast(t *testing.T) {
	for how, b := range blows {
		t.Run(how, func(t *testing.T) {
			n, kinds := 0, map[string]bool{}
			for was := ""; n == 0 || was != ""; n++ {
				t.Run(fmt.Sprint("call ", n), func(t *testing.T) {
					inBubble(t, func(t *testing.T) { was = b.falls(t, n) })
					kinds[was] = true
				})
			}
			for _, call := range []string{"verify", "namespace", "cluster", "clusters", "groups", "put"} {
				NewWithT(t).Expect(kinds).To(HaveKey(call))
			}
			NewWithT(t).Expect(n).To(BeNumerically(">", 8), "five calls of the start, heartbeats, and none")
		})
	}
}

// strikes hits the nth call of a process.
type strikes struct {
	blow
	left int
	hit  string // the name of the call
	die  context.CancelFunc
}

var errStruck = fmt.Errorf("told to fail: %w", ownership.ErrUnavailable)

// on decides about a call: whether it is made, and whether its reply comes.
func (s *strikes) on(ctx context.Context, name string) (made, answered bool) {
	if ctx.Err() != nil {
		return false, false
	}
	s.left--
	if s.left != -1 {
		return true, true
	}
	s.hit = name
	if s.dies {
		defer s.die()
	}
	return s.applied, false
}

func (s *strikes) call(ctx context.Context, name string, make func() error) error {
	made, answered := s.on(ctx, name)
	var err error
	if made {
		err = make()
	}
	if !answered {
		return errStruck
	}
	return err
}

// struck is a registry whose calls can be hit.
type struck struct {
	*memory.Table
	*strikes
}

func (s struck) Cluster(ctx context.Context, id string) (c ownership.Cluster, err error) {
	err = s.call(ctx, "cluster", func() (err error) { c, err = s.Table.Cluster(ctx, id); return err })
	return c, err
}

func (s struck) Clusters(ctx context.Context) (all ownership.Clusters, err error) {
	err = s.call(ctx, "clusters", func() (err error) { all, err = s.Table.Clusters(ctx); return err })
	return all, err
}

func (s struck) Groups(ctx context.Context, id string) (keys []ownership.Key, err error) {
	err = s.call(ctx, "groups", func() (err error) { keys, err = s.Table.Groups(ctx, id); return err })
	return keys, err
}

func (s struck) PutCluster(ctx context.Context, next ownership.Cluster, seen ownership.Revision) error {
	return s.call(ctx, "put", func() error { return s.Table.PutCluster(ctx, next, seen) })
}

// falls plays a start and half a minute of heartbeats, and returns the name of
// the call that was hit, if there were as many.
func (b blow) falls(t *testing.T, n int) (hit string) {
	g := NewWithT(t)
	table := memory.New()
	// An ID that the cluster had before, with no records left.
	put(t, table, ownership.Cluster{ID: "old", Fingerprint: "uid-a", State: ownership.ClusterActive})
	ctx, die := context.WithCancel(log.IntoContext(t.Context(), zap.New(zap.WriteTo(io.Discard))))
	defer die()
	s := &strikes{blow: b, left: n, die: die}
	c := struckConfig(table, s)
	g.Expect(c.Gate.Check()).NotTo(Succeed(), "before its first claim")
	go func() { _ = cluster.NewHeartbeat(c).Start(ctx) }()
	synctest.Wait()
	if s.hit != "" { // by the first renewal
		g.Expect(c.Gate.Check()).NotTo(Succeed(), "nobody knows whether the ID is claimed")
	}
	pass(30 * time.Second)
	s.left = -1 // too late for the nth call
	gate, process := c.Gate, 1
	if s.hit != "" && b.dies {
		pass(time.Minute)
		g.Expect(errors.Is(ctx.Err(), context.Canceled)).To(BeTrue())
		next := config("uid-a", table)
		gate, process = beating(t, next), 2
	}
	pass(20 * time.Second)
	g.Expect(gate.Check()).To(Succeed(), "process %d", process)
	g.Expect(gate.Drained()).To(BeFalse())
	got := entry(t, table)
	g.Expect(got.Fingerprint).To(Equal("uid-a"))
	g.Expect(got.State).To(Equal(ownership.ClusterActive))
	g.Expect(got.HeartbeatSeq).To(Equal(got.Version), "each write is one heartbeat")
	g.Expect(time.Since(got.HeartbeatAt)).To(BeNumerically("<=", 10*time.Second))
	return s.hit
}

func struckConfig(table *memory.Table, s *strikes) cluster.HeartbeatConfig {
	c := config("uid-a", nil)
	c.Registry = struck{table, s}
	c.Verify = func(ctx context.Context) error { return s.call(ctx, "verify", func() error { return nil }) }
	c.Live = kubeSystem("uid-a").WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, under client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return s.call(ctx, "namespace", func() error { return under.Get(ctx, key, o, opts...) })
		},
	}).Build()
	return c
}
