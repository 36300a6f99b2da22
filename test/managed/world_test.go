package managed

import (
	"maps"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
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
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/table"
)

// patience is longer than the minute that a new process leaves alone what its
// predecessor was taking out.
const patience = 3 * time.Minute

// setup is one at a time, as in a process of its own: it registers metrics.
var setup sync.Mutex

// world is a namespace with a controller that makes bindings of annotations, a
// table, and a load balancer with the groups web and other.
type world struct {
	*WithT
	t         *testing.T
	kind      kind.Kind
	namespace string
	sim       *elbsim.Simulator
	groups    map[string]elbsim.Group
	table     *dynamo.Table
	writes    *writes
}

func newWorld(t *testing.T, k kind.Kind) *world {
	t.Helper()
	t.Parallel()
	w := &world{WithT: NewWithT(t), t: t, kind: k, groups: map[string]elbsim.Group{}, writes: &writes{all: map[string]int{}}}
	w.SetDefaultEventuallyTimeout(patience)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}
	w.Expect(cluster.Client.Create(t.Context(), namespace)).To(Succeed())
	w.namespace = namespace.Name
	w.sim = elbsim.New(elbsim.Options{})
	_, err := w.sim.Start()
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(w.sim.Close)
	engine := table.Kumo.Start(t)
	w.table = dynamo.New(engine.Client, engine.Name, dynamo.Options{})
	for _, name := range []string{"web", "other"} {
		w.groups[name], err = w.sim.CreateGroup(elbsim.Group{Name: name, Protocol: "TCP", Port: 80, VPCID: "vpc-0123456789abcdef0", TargetType: elbsim.TargetTypeIP})
		w.Expect(err).NotTo(HaveOccurred())
	}
	return w
}

// starts runs the whole controller on the namespace, until the end or stop.
func (w *world) starts(edits ...func(*controller.Options)) (stop func()) {
	w.t.Helper()
	api := rest.CopyConfig(cluster.Config)
	api.Wrap(w.writes.count)
	mgr, err := ctrl.NewManager(api, ctrl.Options{
		Scheme:     cluster.Client.Scheme(),
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // there are others in this process
	})
	w.Expect(err).NotTo(HaveOccurred())
	limit := elb.Limit{PerSecond: 1000, Burst: 1000}
	options := controller.Options{
		Table:     w.table,
		Groups:    elb.New(w.sim.Client("east"), elb.Options{Limits: elb.Limits{Reads: limit, Mutations: limit}}),
		ClusterID: "east", Version: "test", ComparePeriod: 5 * time.Minute, HeartbeatPeriod: time.Minute, Workers: 2,
		Kinds: []kind.Kind{w.kind}, FromAnnotations: true,
		Leases: []types.NamespacedName{{Namespace: w.namespace, Name: "load-balancer-controller"}},
	}
	for _, edit := range edits {
		edit(&options)
	}
	setup.Lock()
	err = controller.Setup(w.t.Context(), mgr, options)
	setup.Unlock()
	w.Expect(err).NotTo(HaveOccurred())
	return kube.Run(w.t, mgr)
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

func (w *world) has(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		o.SetNamespace(w.namespace)
		w.Expect(cluster.Client.Create(w.t.Context(), o)).To(Succeed(), "create %T %s", o, o.GetName())
	}
}

// runs gives the world a Service with port http and one address.
func (w *world) runs(name, address string, annotations map[string]string) {
	w.t.Helper()
	w.has(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Name: kube.ServicePortName, Port: kube.ServicePort, TargetPort: intstr.FromInt32(kube.TargetPort)}},
	}})
	w.Expect(cluster.SetEndpoints(w.t.Context(), w.namespace, name, address)).To(Succeed())
}

// inGroup annotates a Service.
func inGroup(text string) map[string]string {
	return map[string]string{managed.ServiceSharedAnnotation: "true", managed.TargetGroupsAnnotation: text}
}

func (w *world) changes(o client.Object, name string, change func()) {
	w.t.Helper()
	w.Eventually(func() error {
		if err := cluster.Client.Get(w.t.Context(), w.key(name), o); err != nil {
			return err
		}
		change()
		return cluster.Client.Update(w.t.Context(), o)
	}).Should(Succeed())
}

// annotates changes annotations of an object; empty removes one.
func (w *world) annotates(o client.Object, name string, changes map[string]string) {
	w.t.Helper()
	w.changes(o, name, func() {
		all := map[string]string{}
		maps.Copy(all, o.GetAnnotations())
		for key, value := range changes {
			if all[key] = value; value == "" {
				delete(all, key)
			}
		}
		o.SetAnnotations(all)
	})
}

func (w *world) routes(name, class, text string, services ...string) {
	w.t.Helper()
	var paths []networkingv1.HTTPIngressPath
	for _, s := range services {
		paths = append(paths, networkingv1.HTTPIngressPath{
			Path: "/" + s, PathType: new(networkingv1.PathTypePrefix),
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: s, Port: networkingv1.ServiceBackendPort{Number: kube.ServicePort}}},
		})
	}
	w.has(&networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{managed.IngressSharedAnnotation: "true", managed.TargetGroupsAnnotation: text}},
		Spec: networkingv1.IngressSpec{IngressClassName: &class, Rules: []networkingv1.IngressRule{{
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths}},
		}}},
	})
}

// class makes an IngressClass of its own.
func (w *world) class(controller string) string {
	w.t.Helper()
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "class-"}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
	w.Expect(cluster.Client.Create(w.t.Context(), class)).To(Succeed())
	return class.Name
}
