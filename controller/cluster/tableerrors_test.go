package cluster_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// resending applies each write and then sends it again, as an SDK does when
// the reply to its first attempt was lost.
type resending struct{ *memory.Table }

func (r resending) PutCluster(ctx context.Context, next ownership.Cluster, seen ownership.Revision) error {
	if err := r.Table.PutCluster(ctx, next, seen); err != nil {
		return err
	}
	return r.Table.PutCluster(ctx, next, seen)
}

// Field case 9.
func TestOwnWriteIsRecognised(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		gate := beating(t, config("uid-a", resending{table}))
		g.Expect(gate.Check()).To(Succeed())
		pass(time.Minute)
		g.Expect(gate.Check()).To(Succeed())
		g.Expect(entry(t, table).HeartbeatSeq).To(BeEquivalentTo(7), "one heartbeat per interval")
	})
}

func TestLostReplies(t *testing.T) {
	for name, fault := range map[string]memory.Fault{"applied": memory.LoseReply(), "applied later": memory.Delay()} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table := memory.New()
				table.Intercept(func(op memory.Op) memory.Fault {
					if op.Writes() {
						return fault
					}
					return memory.Fault{}
				})
				gate := beating(t, config("uid-a", table))
				g.Expect(gate.Check()).To(MatchError(ownership.ErrUnavailable))

				table.Intercept(nil)
				if len(table.Delayed()) > 0 {
					g.Expect(table.Land(0)).To(Succeed())
				}
				pass(time.Second)
				g.Expect(gate.Check()).To(Succeed())
				got := entry(t, table)
				g.Expect(got.Fingerprint).To(Equal("uid-a"))
				g.Expect(got.HeartbeatSeq).To(BeEquivalentTo(2))
			})
		})
	}
}

func TestTableErrorsAtStartKeepTheGateClosed(t *testing.T) {
	for _, class := range []error{
		ownership.ErrTableMissing, ownership.ErrTableCreating, ownership.ErrForbidden,
		ownership.ErrThrottled, ownership.ErrUnavailable,
	} {
		t.Run(class.Error(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table, calls := memory.New(), &journal{}
				table.Intercept(calls.intercept(refuse(class)))
				gate := beating(t, config("uid-a", table))
				g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.NotClaimedError{}))
				g.Expect(gate.Check()).To(MatchError(class))

				pass(time.Hour)
				g.Expect(gate.Check()).To(MatchError(class))
				g.Expect(calls.count(memory.PutCluster)).To(BeZero())

				table.Intercept(nil)
				pass(30 * time.Second)
				g.Expect(gate.Check()).To(Succeed())
			})
		})
	}
}

func TestRetriesBackOffToTensOfSeconds(t *testing.T) {
	for _, tc := range []struct {
		random float64
		want   []time.Duration
	}{
		{0, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second}},
		{0.5, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 6 * time.Second, 12 * time.Second, 22500 * time.Millisecond, 22500 * time.Millisecond}},
	} {
		inBubble(t, func(t *testing.T) {
			table, calls := memory.New(), &journal{}
			table.Intercept(calls.intercept(refuse(ownership.ErrThrottled)))
			c := config("uid-a", table)
			c.Random = func() float64 { return tc.random }
			beating(t, c)
			pass(time.Hour)
			g := NewWithT(t)
			g.Expect(calls.gaps()[:len(tc.want)]).To(Equal(tc.want))
			g.Expect(calls.gaps()).To(HaveEach(BeNumerically("<=", 30*time.Second)))
		})
	}
}

func TestRetriesStartAnewAfterASuccess(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		table.Intercept(refuse(ownership.ErrThrottled))
		gate := beating(t, config("uid-a", table))
		pass(time.Hour)
		table.Intercept(nil)
		pass(30 * time.Second)
		g.Expect(gate.Check()).To(Succeed())

		calls := &journal{}
		table.Intercept(calls.intercept(refuse(ownership.ErrThrottled)))
		pass(time.Minute)
		g.Expect(calls.gaps()[0]).To(Equal(750 * time.Millisecond))
	})
}

func TestTableErrorsDoNotHideARefusal(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		put(t, table, ownership.Cluster{ID: "blue", Fingerprint: "uid-b", State: ownership.ClusterActive})
		gate := beating(t, config("uid-a", table))
		table.Intercept(refuse(ownership.ErrUnavailable))
		pass(time.Hour)
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.DuplicateIDError{}))
	})
}

// Field case 32: rows deleted by hand, a table restored from yesterday.
func TestOwnEntryIsWrittenAgainAfterATableLostIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		gate := beating(t, config("uid-a", table))
		yesterday := table.Snapshot()
		events := gate.Watch()

		table.Wipe()
		pass(10 * time.Second)
		g.Expect(entry(t, table).Fingerprint).To(Equal("uid-a"))
		table.Restore(yesterday)
		pass(10 * time.Second)
		g.Expect(entry(t, table).HeartbeatSeq).To(BeEquivalentTo(2))
		g.Expect(gate.Check()).To(Succeed())
		g.Expect(drain(events)).To(BeZero())
	})
}

func TestUnreadableNamespaceKeepsTheGateClosed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table, calls := memory.New(), &journal{}
		table.Intercept(calls.intercept(noFault))
		var forbidden atomic.Bool
		forbidden.Store(true)
		c := config("uid-a", table)
		c.Live = kubeSystem("uid-a").WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, live client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				if forbidden.Load() {
					return apierrors.NewForbidden(corev1.Resource("namespaces"), key.Name, nil)
				}
				return live.Get(ctx, key, obj, opts...)
			},
		}).Build()
		gate := beating(t, c)
		g.Expect(gate.Check()).To(MatchError(And(ContainSubstring("kube-system"), ContainSubstring("service account"))))
		g.Expect(calls.calls).To(BeEmpty())

		forbidden.Store(false)
		pass(time.Second)
		g.Expect(gate.Check()).To(Succeed())
	})
}

func TestEmptyFingerprintClaimsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		table := memory.New()
		gate := beating(t, config("", table))
		g.Expect(gate.Check()).To(MatchError(ContainSubstring("kube-system: it has none")))
		g.Expect(table.Clusters(t.Context())).To(BeZero())
	})
}

// hanging does not answer before its context ends.
type hanging struct{ *memory.Table }

func (h hanging) Cluster(ctx context.Context, _ string) (ownership.Cluster, error) {
	<-ctx.Done()
	return ownership.Cluster{}, errors.Join(ownership.ErrUnavailable, ctx.Err())
}

func TestHangingTableIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		gate := beating(t, config("uid-a", hanging{memory.New()}))
		pass(9 * time.Second)
		g.Expect(gate.Check()).NotTo(MatchError(ownership.ErrUnavailable))
		pass(2 * time.Second)
		g.Expect(gate.Check()).To(MatchError(ownership.ErrUnavailable))
	})
}
