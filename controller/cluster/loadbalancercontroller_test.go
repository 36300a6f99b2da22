package cluster_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership/memory"
)

const leaseName = "aws-load-balancer-controller-leader"

// lease is held by pod-1 for 15 s and was renewed at the given time.
func lease(namespace string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       new("pod-1"),
			LeaseDurationSeconds: new(int32(15)),
			RenewTime:            &metav1.MicroTime{Time: renewed},
		},
	}
}

// leases is a Kubernetes API that can list leases by name.
func leases(objects ...client.Object) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithObjects(objects...).
		WithIndex(&coordinationv1.Lease{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} })
}

// claimed is a gate that only the guard holds closed.
func claimed(t *testing.T) *cluster.Gate {
	t.Helper()
	gate := beating(t, config("uid-a", memory.New()))
	NewWithT(t).Expect(gate.Check()).To(Succeed())
	return gate
}

func guarded(t *testing.T, live client.Reader, leases ...types.NamespacedName) *cluster.Gate {
	t.Helper()
	gate := claimed(t)
	guard := cluster.NewLoadBalancerControllerGuard(live, gate, leases...)
	NewWithT(t).Expect(gate.Check()).To(MatchError(&cluster.LeaseUnreadableError{}), "before the first answer")
	start(t, guard)
	return gate
}

// update changes the lease that lease returns.
func update(t *testing.T, api client.Client, namespace string, change func(*coordinationv1.Lease)) {
	t.Helper()
	var l coordinationv1.Lease
	if err := api.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: leaseName}, &l); err != nil {
		t.Fatalf("get the lease: %v", err)
	}
	change(&l)
	if err := api.Update(t.Context(), &l); err != nil {
		t.Fatalf("update the lease: %v", err)
	}
}

// renewFor renews the lease every 2 s, as controller-runtime does, on a wall
// clock that is off by skew.
func renewFor(t *testing.T, api client.Client, d, skew time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); pass(2 * time.Second) {
		update(t, api, "kube-system", func(l *coordinationv1.Lease) {
			l.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(skew)}
		})
	}
}

func TestIdleLeasesOpenTheGateAtOnce(t *testing.T) {
	for name, change := range map[string]func(*coordinationv1.Lease){
		"released":            func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("") },
		"without a holder":    func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil },
		"left over for a day": func(l *coordinationv1.Lease) { l.Spec.RenewTime.Time = time.Now().Add(-24 * time.Hour) },
		"of another program":  func(l *coordinationv1.Lease) { l.Name = "cert-manager-controller" },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				l := lease("kube-system", time.Now())
				change(l)
				NewWithT(t).Expect(guarded(t, leases(l).Build()).Check()).To(Succeed())
			})
		})
	}
	t.Run("none", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			NewWithT(t).Expect(guarded(t, leases().Build()).Check()).To(Succeed())
		})
	})
}

func TestHeldLeaseIsWatchedBeforeItCountsAsLeftOver(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*coordinationv1.Lease)
		idle   time.Duration
	}{
		"fresh":                     {func(*coordinationv1.Lease) {}, 20 * time.Second},
		"50 minutes old":            {func(l *coordinationv1.Lease) { l.Spec.RenewTime.Time = time.Now().Add(-50 * time.Minute) }, 20 * time.Second},
		"from the future":           {func(l *coordinationv1.Lease) { l.Spec.RenewTime.Time = time.Now().Add(50 * time.Minute) }, 20 * time.Second},
		"with a duration of 1 min":  {func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = new(int32(60)) }, 65 * time.Second},
		"without duration and time": {func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = nil, nil }, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				l := lease("kube-system", time.Now())
				tc.change(l)
				gate := guarded(t, leases(l).Build())
				want := &cluster.LoadBalancerControllerError{
					Lease: types.NamespacedName{Namespace: "kube-system", Name: leaseName}, Holder: "pod-1", Idle: tc.idle,
				}
				g.Expect(gate.Check()).To(MatchError(want))
				pass(tc.idle - time.Millisecond)
				g.Expect(gate.Check()).To(MatchError(want))
				pass(time.Millisecond)
				g.Expect(gate.Check()).To(Succeed())
			})
		})
	}
}

func TestRenewedLeaseKeepsTheGateClosed(t *testing.T) {
	for name, skew := range map[string]time.Duration{"clocks agree": 0, "its clock is 3 hours slow": -3 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				api := leases(lease("kube-system", time.Now().Add(skew))).Build()
				gate := guarded(t, api)
				renewFor(t, api, 16*time.Second, skew)
				running := &cluster.LoadBalancerControllerError{
					Lease: types.NamespacedName{Namespace: "kube-system", Name: leaseName}, Holder: "pod-1", Renewing: true, Idle: 20 * time.Second,
				}
				g.Expect(gate.Check()).To(MatchError(running))
				g.Expect(gate.Check()).To(MatchError(ContainSubstring("scale its Deployment in namespace kube-system to 0")))
				renewFor(t, api, 5*time.Minute, skew)
				g.Expect(gate.Check()).To(MatchError(running))

				// Scaled down: nobody renews, and the holder stays.
				pass(17 * time.Second)
				g.Expect(gate.Check()).To(MatchError(running), "a standby may take over until now")
				pass(20 * time.Second)
				g.Expect(gate.Check()).To(Succeed())
			})
		})
	}
}

func TestReleasedLeaseOpensTheGateAtTheNextCheck(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		api := leases(lease("kube-system", time.Now())).Build()
		gate := guarded(t, api)
		renewFor(t, api, time.Minute, 0)
		g.Expect(gate.Check()).NotTo(Succeed())
		update(t, api, "kube-system", func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("") })
		pass(15 * time.Second)
		g.Expect(gate.Check()).To(Succeed())

		update(t, api, "kube-system", func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = new("pod-2") })
		pass(15 * time.Second)
		g.Expect(gate.Check()).To(MatchError(ContainSubstring("is being renewed by pod-2")))
	})
}

func TestAnnotatedLeaseIsNotRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		api := leases(lease("kube-system", time.Now())).Build()
		gate := guarded(t, api)
		pass(10 * time.Second)
		update(t, api, "kube-system", func(l *coordinationv1.Lease) { l.Annotations = map[string]string{"note": "ours"} })
		pass(10 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
	})
}

func TestLoadBalancerControllerIsInstalledLater(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		api := leases().Build()
		gate := guarded(t, api)
		events := gate.Watch()
		g.Expect(api.Create(t.Context(), lease("ingress", time.Now()))).To(Succeed())
		pass(15 * time.Second)
		g.Expect(gate.Check()).To(MatchError(ContainSubstring("ingress/" + leaseName)))
		g.Expect(drain(events)).To(Equal(1))
	})
}

func TestNamedLeases(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		renamed := lease("lbc-a", time.Now())
		renamed.Name = "renamed"
		live := leases(lease("kube-system", time.Now()), renamed).Build()

		elsewhere := guarded(t, live, types.NamespacedName{Namespace: "lbc-b", Name: "renamed"})
		g.Expect(elsewhere.Check()).To(Succeed())
		both := guarded(t, live, types.NamespacedName{Namespace: "lbc-b", Name: "renamed"}, types.NamespacedName{Namespace: "lbc-a", Name: "renamed"})
		g.Expect(both.Check()).To(MatchError(ContainSubstring("lbc-a/renamed")))
	})
}

// flaky is a Kubernetes API that fails to list while an error is set.
type flaky struct {
	client.Reader
	err atomic.Pointer[error]
}

func (f *flaky) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return f.Reader.List(ctx, list, opts...)
}

func TestUnreadableLeaseAtStartKeepsTheGateClosed(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		err := error(apierrors.NewForbidden(coordinationv1.Resource("leases"), leaseName, errors.New("no rule")))
		api := &flaky{Reader: leases().Build()}
		api.err.Store(&err)
		gate := guarded(t, api)
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.LeaseUnreadableError{}))
		g.Expect(gate.Check()).To(MatchError(And(ContainSubstring(leaseName), ContainSubstring("service account"))))
		pass(time.Hour)
		g.Expect(gate.Check()).To(MatchError(err))

		api.err.Store(nil)
		pass(15 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
	})
}

func TestLastAnswerCountsForAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		err := errors.New("connection refused")
		api := &flaky{Reader: leases().Build()}
		gate := guarded(t, api)
		api.err.Store(&err)
		pass(59 * time.Second)
		g.Expect(gate.Check()).To(Succeed())
		pass(time.Second)
		g.Expect(gate.Check()).To(MatchError(err))
	})
}

func TestErrorsAreNoSignOfAnIdleLease(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		err := errors.New("connection refused")
		api := &flaky{Reader: leases(lease("kube-system", time.Now())).Build()}
		gate := guarded(t, api)
		api.err.Store(&err)
		pass(time.Hour)
		g.Expect(gate.Check()).NotTo(Succeed())
	})
}

func TestRegistryReasonComesFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		g := NewWithT(t)
		gate := cluster.NewGate()
		cluster.NewLoadBalancerControllerGuard(leases().Build(), gate)
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.NotClaimedError{}))
		c := config("uid-a", memory.New())
		c.Gate = gate
		beating(t, c)
		g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.LeaseUnreadableError{}))
	})
}
