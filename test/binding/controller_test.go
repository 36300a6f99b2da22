package binding

import (
	"sync"
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// patience is for what a controller does as soon as it sees an event. It is
// long, for machines that have other things to do.
const patience = time.Minute

// setup is one at a time, as in a process of its own: it registers metrics.
var setup sync.Mutex

// controls runs the whole controller, wired as cmd/controller does, on the
// objects of the site and in real time, to the end of the test or until stop.
// Its network is the wire of the site.
func (s *site) controls(edits ...func(*controller.Options)) (stop func()) {
	s.t.Helper()
	return s.controlsIn(s.managerOptions(), edits...)
}

func (s *site) controlsIn(m ctrl.Options, edits ...func(*controller.Options)) (stop func()) {
	s.t.Helper()
	s.SetDefaultEventuallyTimeout(patience)
	config := rest.CopyConfig(s.api.Config)
	config.Wrap(s.kubernetes("live"))
	mgr, err := ctrl.NewManager(config, m)
	s.Expect(err).NotTo(HaveOccurred())
	limit := elb.Limit{PerSecond: 1000, Burst: 1000}
	options := controller.Options{
		Table: s.dynamoDB(s.wire),
		Groups: elb.New(s.sim.Client(s.id, func(o *elbv2.Options) { o.HTTPClient = s.aws() }),
			elb.Options{Region: elbRegion, Limits: elb.Limits{Reads: limit, Mutations: limit}}),
		ClusterID: s.id, Version: "test", ComparePeriod: comparePeriod, HeartbeatPeriod: time.Minute, Workers: 2,
		Kinds:  []kind.Kind{s.kind},
		Leases: []types.NamespacedName{{Namespace: s.namespace, Name: "load-balancer-controller"}},
	}
	for _, change := range edits {
		change(&options)
	}
	setup.Lock()
	err = controller.Setup(s.t.Context(), mgr, options)
	setup.Unlock()
	s.Expect(err).NotTo(HaveOccurred())
	return kube.Run(s.t, mgr)
}

func (s *site) managerOptions() ctrl.Options {
	return ctrl.Options{
		Scheme:     s.api.Client.Scheme(),
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // there are others in this process
	}
}

func (w *world) eventuallyGroup(targets ...string) {
	w.t.Helper()
	w.Eventually(func() []string { return w.sim.Registered(w.group.ARN) }).Should(ConsistOf(anys(targets)...))
}

// eventuallyReady waits for the reason of the condition Ready.
func (s *site) eventuallyReady(name string, reason v1beta1.ConditionReason) {
	s.t.Helper()
	s.Eventually(func() string {
		if c := s.binding(name).Status.Conditions; len(c) > 0 {
			return c[0].Reason
		}
		return ""
	}).Should(Equal(string(reason)))
}

func TestTheControllerFollowsWhatItWatches(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.controls()
	east.binds("web")
	east.eventuallyReady("web", v1beta1.ReasonServiceNotFound)
	east.runs("web", "10.0.0.1")
	w.eventuallyGroup("10.0.0.1:8080")
	east.eventuallyReady("web", v1beta1.ReasonReconciled)
	east.scales("web", "10.0.0.1", "10.0.0.2")
	w.eventuallyGroup("10.0.0.1:8080", "10.0.0.2:8080")

	east.changesService("web", func(s *corev1.Service) { s.Spec.Ports[0].Name = "renamed" })
	east.eventuallyReady("web", v1beta1.ReasonPortNotFound)
	east.edits("web", toPort(intstr.FromInt32(80)))
	east.eventuallyReady("web", v1beta1.ReasonEndpointsUnknown) // the slices still have the old name
	east.changesService("web", func(s *corev1.Service) { s.Spec.Ports[0].Name = "http" })
	east.eventuallyReady("web", v1beta1.ReasonReconciled)

	east.scales("web", "10.0.0.3")
	w.eventuallyGroup("10.0.0.3:8080")
	east.deletes("web")
	w.eventuallyGroup()
	w.Eventually(func() error {
		return client.IgnoreNotFound(east.api.Client.Get(t.Context(), east.key("web"), &v1beta1.TargetGroupBinding{}))
	}).Should(Succeed())
	w.Eventually(w.records).Should(BeEmpty())
	w.Expect(east.count()).To(HaveKeyWithValue("DescribeTargetHealth", 1))
}

func TestTheControllerFollowsNodes(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.controls()
	east.runsOnNodePort("web", 0)
	port := int(east.service("web").Spec.Ports[0].NodePort)
	east.binds("web", east.onOwnNodes)
	east.eventuallyReady("web", v1beta1.ReasonReconciled)
	east.node("i-0a")
	w.eventuallyGroup(at(port, "i-0a")...)
}

// People see events on the binding, also from the pass that has just put the
// finalizer on it.
func TestEventsReachTheAPIServer(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.controls()
	east.binds("web")
	w.Eventually(func() []string {
		var list corev1.EventList
		w.Expect(east.api.Client.List(t.Context(), &list, client.InNamespace(east.namespace))).To(Succeed())
		var seen []string
		for _, e := range list.Items {
			seen = append(seen, e.Type+" "+e.Reason+" "+e.InvolvedObject.Kind+" "+e.InvolvedObject.Name)
		}
		return seen
	}).Should(ConsistOf("Warning ServiceNotFound TargetGroupBinding web"))
}

// The slice is late: the node says that it shuts down, and the Pod on it
// leaves.
func TestCase26ANodeThatShutsDown(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.controls()
	east.node("i-0a")
	leaving := ready("10.0.0.2")
	leaving.NodeName = new(east.namespace + "-i-0a")
	east.runsInSlices("web", []discoveryv1.Endpoint{ready("10.0.0.1"), leaving})
	east.binds("web")
	w.eventuallyGroup(at8080("10.0.0.1", "10.0.0.2")...)

	east.changesNode("i-0a", func(c *corev1.NodeCondition) {
		c.Status, c.Message = corev1.ConditionFalse, "node is shutting down"
	})
	w.eventuallyGroup("10.0.0.1:8080")
}

func TestCase20OneBrokenBindingDoesNotDelayAnother(t *testing.T) {
	w := newWorld(t, elbsim.Group{Name: "slow"}, elbsim.Group{Name: "web"})
	slow, err := w.sim.CreateGroup(elbsim.Group{Name: "hangs", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: "ip"})
	w.Expect(err).NotTo(HaveOccurred())
	w.sim.Inject(elbsim.Rule{Group: slow.ARN, Fault: elbsim.Fault{Latency: time.Hour}})
	east := w.cluster("east")
	east.controls()
	east.runs("web", "10.0.0.1")
	east.binds("hangs", toGroup(slow.ARN, ""), toService("web"))
	east.binds("nothing", toGroup(ofNobody, ""), toService("web"))
	w.Eventually(east.count).Should(HaveKey("DescribeTargetHealth")) // and hangs there
	east.binds("web")
	w.eventuallyGroup("10.0.0.1:8080")
	w.Expect(w.sim.Registered(slow.ARN)).To(BeEmpty())
	east.eventuallyReady("nothing", v1beta1.ReasonGroupNotFound)
}

// Two API servers, two UIDs of kube-system, one cluster ID.
func TestCase28TheSecondClusterOfAnIDTouchesNothing(t *testing.T) {
	w := newWorld(t)
	first, second := w.cluster("same"), w.clusterIn(users, "same")
	first.controls()
	first.runs("web", "10.0.0.1")
	first.binds("web")
	first.eventuallyReady("web", v1beta1.ReasonReconciled)

	second.controls()
	second.runs("web", "10.0.0.2")
	second.binds("web", withFinalizer)
	second.eventuallyReady("web", v1beta1.ReasonClusterIDConflict)
	second.expectReady("web", metav1.ConditionUnknown, v1beta1.ReasonClusterIDConflict, `cluster ID "same"`, "--cluster-id")
	second.expectConsistent("web", metav1.ConditionFalse, v1beta1.ReasonClusterIDConflict)
	second.deletes("web")
	w.expectGroup("10.0.0.1:8080")
	for _, call := range []string{"RegisterTargets", "DeregisterTargets", "PutItem", "DeleteItem"} {
		w.Expect(second.count()).NotTo(HaveKey(call))
	}
}

func TestTheControllerWaitsForTheLoadBalancerController(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.has(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "load-balancer-controller"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("pod-1"), RenewTime: new(metav1.NowMicro()), LeaseDurationSeconds: new(int32(1)),
		},
	})
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.controls()
	east.eventuallyReady("web", v1beta1.ReasonLoadBalancerControllerActive)
	east.expectReady("web", metav1.ConditionUnknown, v1beta1.ReasonLoadBalancerControllerActive, east.namespace+"/load-balancer-controller", "pod-1")
	w.expectGroup()
	w.Expect(east.count()).NotTo(HaveKey("DescribeTargetGroups"))
	w.Expect(east.binding("web").Finalizers).To(BeEmpty())
	w.eventuallyGroup("10.0.0.1:8080") // nobody has renewed the lease
}

// Case 13: bindings that went while no controller ran.
func TestTheControllerFinishesForBindingsThatAreGone(t *testing.T) {
	w := newWorld(t)
	w.somebodyRegisters("10.9.0.9:8080")
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.runs("gone", "10.0.0.2")
	for _, name := range []string{"web", "gone"} {
		east.binds(name)
		east.reconciles(name)
	}
	east.edits("gone", func(b *v1beta1.TargetGroupBinding) { b.Finalizers = nil })
	east.deletes("gone")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.9.0.9:8080")

	east.controls()
	w.eventuallyGroup("10.0.0.1:8080", "10.9.0.9:8080")
	east.expectRecord("gone", nil, at8080("10.0.0.2"))
}
