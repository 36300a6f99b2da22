package binding

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/kube"
)

// site is one cluster of the world: a namespace in an API server, under a
// cluster ID of its own, with a controller of one kind of bindings.
type site struct {
	*world
	*process
	kind      kind.Kind
	id        string
	namespace string
	api       *kube.Cluster
	gate      gate
}

// gate is open unless it has a reason not to be.
type gate struct {
	closed    error
	drained   bool
	unrenewed int // how often the renewal of the claim is still to come
}

// Check implements binding.Gate.
func (g *gate) Check() error { return g.closed }

// Drained implements binding.Gate.
func (g *gate) Drained() bool { return g.drained }

// Mark implements binding.Gate.
func (g *gate) Mark() cluster.Mark { return 0 }

// CheckSince implements binding.Gate.
func (g *gate) CheckSince(cluster.Mark) error {
	if g.unrenewed > 0 {
		g.unrenewed--
		return cluster.ErrNotRenewed
	}
	return g.closed
}

func (w *world) cluster(id string) *site { w.t.Helper(); return w.clusterIn(ours, id) }

func (w *world) clusterIn(api *kube.Cluster, id string) *site {
	w.t.Helper()
	s := &site{world: w, kind: kind.TargetGroupBinding, id: id, api: api}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: id + "-"}}
	w.Expect(api.Client.Create(w.t.Context(), namespace)).To(Succeed())
	s.namespace = namespace.Name
	s.process = s.newProcess()
	return s
}

// beside is the same cluster with its bindings of the kind that works beside
// the AWS Load Balancer Controller.
func (s *site) beside() *site {
	s.t.Helper()
	other := &site{world: s.world, kind: kind.SharedTargetGroupBinding, id: s.id, namespace: s.namespace, api: s.api}
	other.process = other.newProcess()
	return other
}

// restarts has a new controller process take over.
func (s *site) restarts() { s.t.Helper(); s.process = s.newProcess() }

func (s *site) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: name}
}

// has creates objects in the namespace of the site.
func (s *site) has(objects ...client.Object) {
	s.t.Helper()
	for _, o := range objects {
		o.SetNamespace(s.namespace)
		s.Expect(s.api.Client.Create(s.t.Context(), o)).To(Succeed(), "create %T %s", o, o.GetName())
	}
}

// runs gives the site a Service with port http, 80 to 8080, and ready
// endpoints.
func (s *site) runs(service string, addresses ...string) {
	s.t.Helper()
	s.has(serviceOf(service, corev1.ServicePort{
		Name: kube.ServicePortName, Port: kube.ServicePort, TargetPort: intstr.FromInt32(kube.TargetPort),
	}))
	s.scales(service, addresses...)
}

// scales makes these addresses the ready endpoints of the Service.
func (s *site) scales(service string, addresses ...string) {
	s.t.Helper()
	s.Expect(s.api.SetEndpoints(s.t.Context(), s.namespace, service, addresses...)).To(Succeed())
}

func serviceOf(name string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: ports}}
}

func (s *site) service(name string) *corev1.Service {
	s.t.Helper()
	service := &corev1.Service{}
	s.Expect(s.api.Client.Get(s.t.Context(), s.key(name), service)).To(Succeed())
	return service
}

func (s *site) changesService(name string, change func(*corev1.Service)) {
	s.t.Helper()
	service := s.service(name)
	change(service)
	s.Expect(s.api.Client.Update(s.t.Context(), service)).To(Succeed())
}

func sliceOf(name, service string, port int32, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new(kube.ServicePortName), Port: &port}},
		Endpoints:   endpoints,
	}
}

func ready(address string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}
}

func terminating(address string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{
		Ready: new(false), Serving: new(true), Terminating: new(true),
	}}
}

// edit changes a binding before it is created, or later.
type edit func(*v1beta1.TargetGroupBinding)

func exclusive(b *v1beta1.TargetGroupBinding) { b.Spec.MultiClusterTargetGroup = false }

func toService(name string) edit {
	return func(b *v1beta1.TargetGroupBinding) { b.Spec.ServiceRef.Name = name }
}

func toPort(port intstr.IntOrString) edit {
	return func(b *v1beta1.TargetGroupBinding) { b.Spec.ServiceRef.Port = port }
}

func toGroup(arn, name string) edit {
	return func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetGroupARN, b.Spec.TargetGroupName = arn, name }
}

// binds creates a shared binding of the Service of the same name, port http,
// to the group.
func (s *site) binds(name string, edits ...edit) {
	s.t.Helper()
	object := s.kind.New()
	object.SetName(name)
	b := s.kind.Binding(object)
	b.Spec = v1beta1.TargetGroupBindingSpec{
		TargetGroupARN:          s.group.ARN,
		MultiClusterTargetGroup: !s.kind.Shared,
		ServiceRef:              v1beta1.ServiceReference{Name: name, Port: intstr.FromString(kube.ServicePortName)},
	}
	for _, change := range edits {
		change(b)
	}
	s.has(object)
}

func (s *site) edits(name string, edits ...edit) {
	s.t.Helper()
	b := s.object(name)
	before := b.DeepCopyObject().(client.Object)
	for _, change := range edits {
		change(s.kind.Binding(b))
	}
	s.Expect(s.api.Client.Patch(s.t.Context(), b, client.MergeFrom(before))).To(Succeed())
}

func (s *site) deletes(name string) {
	s.t.Helper()
	s.Expect(s.api.Client.Delete(s.t.Context(), s.object(name))).To(Succeed())
}

func (s *site) binding(name string) *v1beta1.TargetGroupBinding {
	s.t.Helper()
	return s.kind.Binding(s.object(name))
}

func (s *site) object(name string) client.Object {
	s.t.Helper()
	b := s.kind.New()
	s.Expect(s.api.Client.Get(s.t.Context(), s.key(name), b)).To(Succeed())
	return b
}

// reconciles makes a pass over each binding and returns the last result.
// Troubles are in the conditions: a pass returns an error only if it could not
// even write those.
func (s *site) reconciles(names ...string) reconcile.Result {
	s.t.Helper()
	var result reconcile.Result
	for _, name := range names {
		var err error
		result, err = s.try(s.t.Context(), s.key(name))
		s.Expect(err).NotTo(HaveOccurred())
	}
	return result
}

// settles makes passes as often as they ask for within a minute or two, and
// has the time go by that they wait for.
func (s *site) settles(name string) {
	s.t.Helper()
	var waited time.Duration
	for range 100 {
		after := s.reconciles(name).RequeueAfter
		if waited += after; after == 0 || waited > 2*time.Minute {
			return
		}
		s.passes(after)
	}
	s.t.Fatalf("%s/%s does not settle", s.namespace, name)
}

// pods are n addresses of a network.
func pods(network, n int) []string {
	addresses := make([]string, n)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("10.%d.%d.%d", network, i/250, i%250+1)
	}
	return addresses
}

// at makes targets of addresses.
func at(port int, addresses ...string) []string {
	targets := make([]string, len(addresses))
	for i, address := range addresses {
		if strings.Contains(address, ":") {
			address = "[" + address + "]"
		}
		targets[i] = fmt.Sprintf("%s:%d", address, port)
	}
	return targets
}

func at8080(addresses ...string) []string { return at(kube.TargetPort, addresses...) }
