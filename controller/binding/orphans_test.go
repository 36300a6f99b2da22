package binding_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

const web ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef"

// group notes what leaves it.
type group struct{ left atomic.Int64 }

func (g *group) Register(_ context.Context, a ownership.Admission) ownership.Result {
	return ownership.Result{Done: a.Targets()}
}

func (g *group) Deregister(_ context.Context, r ownership.Removal) ownership.Result {
	g.left.Add(int64(len(r.Targets())))
	return ownership.Result{Done: r.Targets()}
}

func (g *group) Group(context.Context, elb.GroupRef) (elb.Group, error) {
	return elb.Group{ARN: web}, nil
}

func (g *group) Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error) {
	return nil, nil
}

func (g *group) Tags(context.Context, ownership.GroupARN, time.Duration) (elb.Tags, error) {
	return elb.Tags{}, nil
}

func (g *group) Targets(context.Context, ownership.GroupARN) (map[ownership.Target]elb.Health, error) {
	return nil, errors.New("no Pod waits")
}

var ids atomic.Int64

func newID() string { return fmt.Sprintf("write-%d", ids.Add(1)) }

// kubernetes is a cluster without bindings.
func kubernetes(t *testing.T, uid types.UID) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	g := NewWithT(t)
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	g.Expect(v1beta1.AddToScheme(scheme)).To(Succeed())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(&corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: uid},
	}).Build()
}

// runs starts a runnable until the test ends.
func runs(t *testing.T, r interface{ Start(context.Context) error }) {
	t.Helper()
	go func() { _ = r.Start(t.Context()) }()
}

// claims starts the heartbeat of a cluster that calls itself blue.
func claims(t *testing.T, table cluster.Registry, api client.Reader) *cluster.Gate {
	t.Helper()
	gate := cluster.NewGate()
	runs(t, cluster.NewHeartbeat(cluster.HeartbeatConfig{
		Live: api, Registry: table, Gate: gate, ClusterID: "blue", Interval: cluster.DefaultHeartbeatInterval,
		NewID: newID, Random: func() float64 { return 0.5 },
	}))
	return gate
}

// admitted waits until the cluster has the ID, which is at once.
func admitted(t *testing.T, gate *cluster.Gate) {
	t.Helper()
	time.Sleep(time.Millisecond)
	if err := gate.Check(); err != nil {
		t.Errorf("the other cluster did not get the ID: %v", err)
	}
}

// holds writes a record of blue.
func holds(t *testing.T, table *memory.Table) {
	t.Helper()
	err := table.Put(t.Context(), ownership.Record{
		Group: web, Owner: ownership.Owner{Cluster: "blue", Namespace: "shop", Name: "web"}, BindingUID: "uid",
		Held:     map[ownership.Target]time.Time{"10.0.0.5:8080": {}},
		Revision: ownership.Revision{Version: 1, WriteID: newID()},
	}, ownership.Revision{})
	if err != nil {
		t.Errorf("write the record: %v", err)
	}
}

// sweeps starts the sweep of a cluster, whose cache is up to date.
func sweeps(t *testing.T, table *memory.Table, api client.Client, gate *cluster.Gate) *group {
	t.Helper()
	return sweepsWith(t, table, api, api, gate)
}

func sweepsWith(t *testing.T, table *memory.Table, cache, live client.Client, gate *cluster.Gate) *group {
	t.Helper()
	g := &group{}
	runs(t, &binding.Orphans{
		Period: time.Minute,
		Reconciler: binding.New(binding.Reconciler{
			Client: cache, Live: live, Groups: g, Store: table, Gate: gate, Clock: clock.RealClock{}, NewID: newID,
			Options: binding.Options{Kind: kind.TargetGroupBinding, ClusterID: "blue"},
		}),
	})
	return g
}

// The ID is given away between the sweep's look at the gate and its look at
// the record: another cluster claims it and records its own target.
func TestASweepLeavesTheRecordsOfANewOwnerOfTheID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		table, api := memory.New(), kubernetes(t, "uid-a")
		gate := claims(t, table, api)
		synctest.Wait()
		g.Expect(gate.Check()).To(Succeed())

		given := false
		table.Intercept(func(op memory.Op) memory.Fault {
			if op.Kind == memory.Groups && !given {
				given = true
				table.RemoveCluster("blue")
				admitted(t, claims(t, table, kubernetes(t, "uid-b")))
				holds(t, table)
			}
			return memory.Fault{}
		})
		group := sweeps(t, table, api, gate)
		time.Sleep(time.Hour)
		synctest.Wait()

		g.Expect(given).To(BeTrue())
		g.Expect(group.left.Load()).To(BeZero())
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))
		records, err := table.Records(t.Context(), web)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(records.Records).To(ConsistOf(HaveField("Version", BeEquivalentTo(1))))
	})
}

// hanging is a registry whose writes hang once the ID was given away, so that
// the claim neither lapses yet nor is renewed.
type hanging struct {
	*memory.Table
	given chan struct{}
	until context.Context
}

func (h hanging) PutCluster(ctx context.Context, next ownership.Cluster, seen ownership.Revision) error {
	select {
	case <-h.given:
		<-h.until.Done()
	default:
	}
	return h.Table.PutCluster(ctx, next, seen)
}

// The ID is given away after the sweep was allowed to go on, before its first
// write. That write fails, and the sweep knows the new owner's record from then
// on: for the next attempt the claim that allowed the first is too old, even if
// it has not lapsed.
func TestASweepDoesNotAdoptTheRecordOfANewOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		table, api := memory.New(), kubernetes(t, "uid-a")
		wakes, wake := context.WithCancel(t.Context())
		given := make(chan struct{})
		gate := claims(t, hanging{table, given, wakes}, api)
		holds(t, table) // an orphan of ours
		synctest.Wait()

		table.Intercept(func(op memory.Op) memory.Fault {
			if op.Kind == memory.Put {
				table.Intercept(nil)
				table.RemoveCluster("blue")
				admitted(t, claims(t, table, kubernetes(t, "uid-b")))
				records, err := table.Records(t.Context(), web)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(table.Delete(t.Context(), records.Records[0])).To(Succeed())
				holds(t, table)
				close(given)
			}
			return memory.Fault{}
		})
		group := sweeps(t, table, api, gate)
		<-given
		for gate.Check() == nil { // the attempts that the claim seems to allow
			time.Sleep(time.Second)
		}
		wake()
		time.Sleep(time.Hour)
		synctest.Wait()

		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))
		g.Expect(group.left.Load()).To(BeZero())
		records, err := table.Records(t.Context(), web)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(records.Records).To(ConsistOf(HaveField("Version", BeEquivalentTo(1))))
	})
}

// The same sweep does its work while the ID is ours.
func TestASweepFinishesWhatIsOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		table, api := memory.New(), kubernetes(t, "uid-a")
		holds(t, table)
		group := sweeps(t, table, api, claims(t, table, api))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		g.Expect(group.left.Load()).To(BeNumerically(">", 0))
		records, err := table.Records(t.Context(), web)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(records.Records).To(BeEmpty())
	})
}

// A start finds a record for each binding, long before the turn of most has come:
// those that the cache knows cost no call, and those that it has wrong are found
// once it has caught up.
func TestASweepReadsNoRecordOfABindingThatTheCacheHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		table, live, cache := memory.New(), kubernetes(t, "uid-a"), kubernetes(t, "uid-a")
		known := &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		known.Spec.TargetGroupARN = string(web)
		g.Expect(cache.Create(t.Context(), known)).To(Succeed())
		holds(t, table)
		var sweeping, reads atomic.Int64
		table.Intercept(func(op memory.Op) memory.Fault {
			switch op.Kind {
			case memory.Groups:
				sweeping.Add(1)
			case memory.Records:
				reads.Add(1)
			}
			return memory.Fault{}
		})
		group := sweepsWith(t, table, cache, live, claims(t, table, live))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		g.Expect(sweeping.Load()).To(BeNumerically(">", 1))
		g.Expect(reads.Load()).To(BeZero())

		known.Spec.TargetGroupARN += "1" // it has moved
		g.Expect(cache.Update(t.Context(), known)).To(Succeed())
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		g.Expect(reads.Load()).NotTo(BeZero())
		g.Expect(group.left.Load()).NotTo(BeZero())
	})
}
