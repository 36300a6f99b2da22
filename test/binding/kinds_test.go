package binding

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/kind"
)

// Two bindings of one name, of two kinds, are two owners.
func TestKindsOfBindingsAreOwnersApart(t *testing.T) {
	w := newWorld(t)
	w.somebodyRegisters("10.9.0.9:8080")
	east := w.cluster("east")
	beside := east.beside()
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	beside.binds("web")
	east.reconciles("web")
	beside.reconciles("web")

	held := at8080("10.0.0.1", "10.0.0.2")
	east.expectRecord("web", held, nil)
	beside.expectRecord("web", held, nil)
	w.Expect(beside.owner("web")).To(HaveSuffix("/stgb:web"))
	beside.expectReconciled("web")
	beside.expectCounts("web", v1beta1.TargetCounts{Held: 2, Shared: 2, External: 1})

	east.deletes("web")
	east.reconciles("web")
	east.expectGone("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.9.0.9:8080")

	beside.scales("web", "10.0.0.2")
	beside.reconciles("web")
	w.expectGroup("10.0.0.2:8080", "10.9.0.9:8080")
	beside.deletes("web")
	beside.reconciles("web")
	beside.expectGone("web")
	beside.expectNoRecord("web")
	w.expectGroup("10.9.0.9:8080") // and so the kind is a shared one
}

// The sweep of one kind knows nothing of the bindings of the other.
func TestASweepLeavesTheRecordsOfTheOtherKind(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	beside := east.beside()
	for _, s := range []*site{east, beside} {
		name := s.kind.Resource
		s.runs(name, pods(len(name), 1)...)
		s.binds(name)
		s.reconciles(name)
		s.restarts()
	}
	for _, s := range []*site{east, beside} {
		s.sweeps(nil, "")
		east.expectRecord(kind.TargetGroupBinding.Resource, at8080(pods(len(kind.TargetGroupBinding.Resource), 1)...), nil)
		beside.expectRecord(kind.SharedTargetGroupBinding.Resource, at8080(pods(len(kind.SharedTargetGroupBinding.Resource), 1)...), nil)
	}
	beside.loses(kind.SharedTargetGroupBinding.Resource)
	beside.sweeps(nil, "")
	w.expectGroup(at8080(pods(len(kind.TargetGroupBinding.Resource), 1)...)...)
}

// While the AWS Load Balancer Controller leads, its kind waits and ours works.
func TestASharedBindingWorksBesideTheLoadBalancerController(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.has(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "aws-load-balancer-controller-leader"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("lbc"), RenewTime: new(metav1.NowMicro()), LeaseDurationSeconds: new(int32(3600)),
		},
	})
	east.runs("web", "10.0.0.1")
	east.runs("api", "10.0.0.2")
	east.binds("web")
	beside := east.beside()
	beside.binds("api")
	east.controls(func(o *controller.Options) {
		o.Kinds = kind.All
		o.Leases = []types.NamespacedName{{Namespace: east.namespace, Name: cluster.LoadBalancerControllerLease.Name}}
	})

	w.Eventually(func(g Gomega) {
		g.Expect(beside.binding("api").Status.Targets).To(HaveValue(HaveField("Held", int32(1))))
		g.Expect(east.binding("web").Status.Conditions).To(ContainElement(HaveField("Reason", string(v1beta1.ReasonLoadBalancerControllerActive))))
	}).WithPolling(50 * time.Millisecond).Should(Succeed())
	w.expectGroup("10.0.0.2:8080")
	east.expectNoRecord("web")
}
