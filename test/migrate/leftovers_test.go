package migrate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/cmd/targetctl/migrate"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/test/peer"
)

// groups is the load balancer for a migration in this process.
type groups struct{ *elb.Client }

func (g groups) Health(ctx context.Context, arn ownership.GroupARN) (admin.Health, error) {
	states, err := g.Client.Health(ctx, arn)
	health := admin.Health{}
	for t, state := range states {
		health[t] = string(state)
	}
	return health, err
}

// migration is one in this process, where no call of LBC can be under way.
func (w *world) migration(k kind.Kind, edits ...func(*migrate.Migration)) *migrate.Migration {
	options := migrate.DefaultOptions()
	options.Kind, options.Settle, options.Poll, options.Timeout = k, 0, 50*time.Millisecond, patience
	m := &migrate.Migration{
		Cluster: w.api.Client, Table: w.store, Groups: groups{elb.New(w.sim.Client("targetctl"), elb.Options{})},
		Options: options, Version: "test", Say: func(line string) { w.t.Log(line) },
	}
	for _, edit := range edits {
		edit(m)
	}
	return m
}

func forth(ctx context.Context, m *migrate.Migration) error {
	p, err := m.Plan(ctx)
	if err != nil {
		return err
	}
	return m.Run(ctx, p)
}

func back(ctx context.Context, m *migrate.Migration) error {
	p, err := m.PlanBack(ctx)
	if err != nil {
		return err
	}
	return m.Run(ctx, p)
}

// lists is what an LBC that is not there any more wrote down for a binding.
func (w *world) lists(name string, targets ...string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: peer.ListPrefix + name},
		Data:       map[string]string{peer.ListKey: strings.Join(targets, ",")},
	}
}

func finalized(b *v1beta1.TargetGroupBinding) { b.Finalizers = []string{peer.Finalizer} }

// Of what LBC listed, that leaves which is in the group, has no endpoint, is
// nobody's and is not healthy. The rest is none of this cluster's.
func TestWhatLBCLeftLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: a release waits for calls that may be under way")
	}
	w := newWorld(t)
	t.Parallel()
	live, dead, answers, absent := "10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080", "10.0.0.4:8080"
	wests, external := "10.8.8.8:8080", "10.9.9.9:8080"
	w.runs("10.0.0.1")
	w.registers(types.TargetHealthStateEnumUnhealthy, live, dead, external)
	w.registers(types.TargetHealthStateEnumHealthy, answers)
	w.west(wests)
	w.Expect(w.sim.SetHealth(w.group.ARN, wests, types.TargetHealthStateEnumUnhealthy)).To(Succeed())
	w.has(w.binding(finalized), w.lists(name, live, dead, answers, absent, wests))
	w.ours(kind.SharedTargetGroupBinding)
	w.Eventually(w.clusters).Should(ConsistOf(east))

	m := w.migration(kind.SharedTargetGroupBinding)
	p, err := m.Plan(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(p.Rows).To(HaveExactElements(And(
		HaveField("Leftover", 2), HaveField("Healthy", 1), HaveField("Wanted", 1), HaveField("Listed", HaveValue(Equal(5))),
	)))
	w.Expect(m.Run(t.Context(), p)).To(Succeed())
	w.Expect(w.registered()).To(ConsistOf(live, answers, wests, external))
	w.Expect(w.gone(&corev1.ConfigMap{}, peer.ListPrefix+name)).To(BeFalse(), "it names what is healthy")
	w.Expect(w.owners()).To(ConsistOf("west/shop/web", "east/shop/stgb:web"))

	// Once it is not healthy any more it leaves, or if it is forced.
	w.Expect(forth(t.Context(), w.migration(kind.SharedTargetGroupBinding, func(m *migrate.Migration) { m.Force = true }))).To(Succeed())
	w.Expect(w.registered()).To(ConsistOf(live, wests, external))
	w.Expect(w.gone(&corev1.ConfigMap{}, peer.ListPrefix+name)).To(BeTrue())
	w.Expect(w.owners()).To(ConsistOf("west/shop/web", "east/shop/stgb:web"))
	for _, entry := range w.sim.Journal() {
		if entry.Action == "DeregisterTargets" {
			w.Expect(entry.Targets).To(HaveEach(Or(Equal(dead), Equal(answers))))
		}
	}
	p, err = w.migration(kind.SharedTargetGroupBinding).Plan(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(p.Rows).To(BeEmpty())
}

// errCrash ends a process at once.
var errCrash = errors.New("the process has crashed")

// crashing lets a number of writes through; the process does not live to see
// the answer of the last one.
type crashing struct {
	client.Client
	admin.Table
	left *int
}

func (c crashing) write(apply func() error) error {
	if *c.left <= 0 {
		return errCrash
	}
	*c.left--
	if err := apply(); err != nil {
		return err
	}
	if *c.left == 0 {
		return errCrash
	}
	return nil
}

type crashingClient struct{ crashing }

func (c crashingClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return c.write(func() error { return c.Client.Create(ctx, o, opts...) })
}

func (c crashingClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.write(func() error { return c.Client.Patch(ctx, o, p, opts...) })
}

func (c crashingClient) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return c.write(func() error { return c.Client.Delete(ctx, o, opts...) })
}

type crashingTable struct{ crashing }

func (c crashingTable) Put(ctx context.Context, r ownership.Record, seen ownership.Revision) error {
	return c.write(func() error { return c.Table.Put(ctx, r, seen) })
}

func (c crashingTable) Delete(ctx context.Context, r ownership.Record) error {
	return c.write(func() error { return c.Table.Delete(ctx, r) })
}

// A run that ends after its first write, then one after its second, and so on,
// until one comes to its end: there and back.
func TestInterruptedRunsGoOn(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	others := []string{"10.9.9.9:8080", "10.8.8.8:8080"}
	w.registers(types.TargetHealthStateEnumHealthy, others[0])
	w.west(others[1])
	stopLBC := w.lbc()
	w.has(w.binding())
	r := w.rolls(others...)
	w.Eventually(w.registered).Should(HaveLen(replicas + len(others)))
	w.ours(kind.SharedTargetGroupBinding)
	w.Eventually(w.clusters).Should(ConsistOf(east))

	w.interrupts(forth)
	w.Expect(w.gone(&v1beta1.TargetGroupBinding{}, name)).To(BeTrue())
	stopLBC()
	w.lbc()
	w.Eventually(func() (int, error) {
		p, err := w.migration(kind.SharedTargetGroupBinding).PlanBack(t.Context())
		return p.Obstacles(), err
	}).Should(BeZero())
	w.interrupts(back)
	w.Expect(w.gone(kind.SharedTargetGroupBinding.New(), name)).To(BeTrue())
	w.Expect(w.owners()).To(ConsistOf("west/shop/web"))
	r.stop()
	w.Expect(r.lost).To(BeEmpty())
	w.Eventually(w.registered).Should(ConsistOf(r.wanted()))
}

func (w *world) interrupts(run func(context.Context, *migrate.Migration) error) {
	w.t.Helper()
	for writes := 1; ; writes++ {
		left := writes
		err := run(w.t.Context(), w.migration(kind.SharedTargetGroupBinding, func(m *migrate.Migration) {
			c := crashing{Client: m.Cluster, Table: m.Table, left: &left}
			m.Cluster, m.Table = crashingClient{c}, crashingTable{c}
		}))
		if err == nil {
			w.Expect(writes).To(BeNumerically(">", 2), "runs until one came to its end")
			return
		}
		w.Expect(err).To(MatchError(errCrash), "run that ends after %d writes", writes)
	}
}
