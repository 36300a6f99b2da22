package endpoints

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAddresses(t *testing.T) {
	g := NewWithT(t)
	mine, other, elsewhere := slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, pod("10.0.0.6", "2")), slice("c", 8080, pod("10.0.0.7", "3"))
	other.Labels[discoveryv1.LabelServiceName] = "stock"
	elsewhere.Namespace = "test"

	// Case 22: there is no Pod in the cluster that the reader could know of.
	want := resolve(t, reader(shop(), &mine, &other, &elsewhere), ipQuery())
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080"}))
}

func TestInstances(t *testing.T) {
	g := NewWithT(t)
	blue := node("blue", "aws:///eu-west-1a/i-0aaa", label("pool", "blue"))
	green := node("green", "aws:///eu-west-1a/i-0bbb", label("pool", "green"))
	r := reader(shop(), &blue, &green)

	g.Expect(names(resolve(t, r, instanceQuery()).Targets)).To(Equal([]string{"i-0aaa:30080", "i-0bbb:30080"}))

	q := instanceQuery()
	q.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "green"}}
	g.Expect(names(resolve(t, r, q).Targets)).To(Equal([]string{"i-0bbb:30080"}))

	q.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: "Like"}}}
	_, err := Resolver{Reader: r}.Want(t.Context(), q)
	invalid := new(InvalidNodeSelectorError)
	g.Expect(errors.As(err, &invalid)).To(BeTrue(), "%v", err)
}

// Case 25: a new node port gives new keys, and the type alone changes nothing.
func TestNodePortChanges(t *testing.T) {
	g := NewWithT(t)
	n := node("n", goodID)
	loadBalancer := func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeLoadBalancer }
	newPort := func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 31000 }

	g.Expect(names(resolve(t, reader(shop(), &n), instanceQuery()).Targets)).To(Equal([]string{"i-0aaa:30080"}))
	g.Expect(names(resolve(t, reader(shop(loadBalancer), &n), instanceQuery()).Targets)).To(Equal([]string{"i-0aaa:30080"}))
	g.Expect(names(resolve(t, reader(shop(newPort), &n), instanceQuery()).Targets)).To(Equal([]string{"i-0aaa:31000"}))
}

func TestPortOfService(t *testing.T) {
	dns := shop(func(s *corev1.Service) {
		s.Spec.Ports = []corev1.ServicePort{
			{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(1053)},
			{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP, TargetPort: intstr.FromInt32(2053)},
			{Name: "53", Port: 8053, Protocol: corev1.ProtocolTCP},
		}
	})
	for _, c := range []struct {
		name     string
		port     intstr.IntOrString
		protocol string
		found    string
	}{
		{"by name", intstr.FromString("dns"), "TCP", "dns"},
		{"by number", intstr.FromInt32(8053), "", "53"},
		{"a name of digits is a name", intstr.FromString("53"), "", "53"},
		{"number and TCP", intstr.FromInt32(53), "TCP", "dns-tcp"},
		{"number and TLS", intstr.FromInt32(53), "TLS", "dns-tcp"},
		{"number and UDP", intstr.FromInt32(53), "UDP", "dns"},
		{"number and QUIC", intstr.FromInt32(53), "QUIC", "dns"},
		{"number and both", intstr.FromInt32(53), "TCP_UDP", "dns-tcp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			port, err := findPort(dns, c.port, c.protocol)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(port.Name).To(Equal(c.found))
		})
	}
}

func TestMisconfiguration(t *testing.T) {
	ofType := func(typ corev1.ServiceType) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Spec.Type = typ }
	}
	askFor := func(q Query, port intstr.IntOrString) Query {
		q.ServicePort = port
		return q
	}
	headless := func(s *corev1.Service) {
		s.Spec.Type, s.Spec.ClusterIP, s.Spec.Ports = corev1.ServiceTypeClusterIP, "None", nil
	}
	noNodePort := func(s *corev1.Service) {
		s.Spec.Type, s.Spec.Ports[0].NodePort, s.Spec.AllocateLoadBalancerNodePorts = corev1.ServiceTypeLoadBalancer, 0, new(false)
	}
	for _, c := range []struct {
		name    string
		service *corev1.Service
		query   Query
		kind    any
		message string
	}{
		{"no port of that name", shop(), askFor(ipQuery(), intstr.FromString("https")), new(*PortNotFoundError), `service web/shop has no port "https": it has http (80); correct serviceRef.port`},
		{"no port of that number", shop(), askFor(ipQuery(), intstr.FromInt32(8080)), new(*PortNotFoundError), `service web/shop has no port "8080": it has http (80); correct serviceRef.port`},
		{"headless without ports", shop(headless), ipQuery(), new(*PortNotFoundError), `service web/shop has no port "http": it has no ports; correct serviceRef.port`},
		{"instances behind ClusterIP", shop(ofType(corev1.ServiceTypeClusterIP)), instanceQuery(), new(*WrongServiceTypeError), "service web/shop cannot be used with target type instance: its type is ClusterIP; make it NodePort or LoadBalancer, or use a group of target type ip"},
		{"no node port", shop(noNodePort), instanceQuery(), new(*WrongServiceTypeError), "service web/shop cannot be used with target type instance: port http (80) has no node port; set allocateLoadBalancerNodePorts to true or give it a nodePort"},
		{"ExternalName", shop(ofType(corev1.ServiceTypeExternalName)), ipQuery(), new(*WrongServiceTypeError), "service web/shop cannot be used with target type ip: its type is ExternalName, which has no endpoints"},
		{"lambda", shop(), func() Query { q := ipQuery(); q.TargetType = "lambda"; return q }(), new(*WrongServiceTypeError), "service web/shop cannot be used with target type lambda: only ip and instance can be bound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			n := node("n", goodID)
			_, err := Resolver{Reader: reader(c.service, &n)}.Want(t.Context(), c.query)
			g.Expect(errors.As(err, c.kind)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(c.message))
		})
	}
}

func TestServiceNotFound(t *testing.T) {
	g := NewWithT(t)
	_, err := Resolver{Reader: reader()}.Want(t.Context(), ipQuery())
	missing := new(ServiceNotFoundError)
	g.Expect(errors.As(err, &missing)).To(BeTrue(), "%v", err)
	g.Expect(missing.Service.String()).To(Equal("web/shop"))
}

// Case 4: a read that fails is never an absence, whichever read it is and
// however it fails.
func TestFailedReadsAreUnknown(t *testing.T) {
	slices := schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"timeout", context.DeadlineExceeded},
		{"reset", syscall.ECONNRESET},
		{"403", apierrors.NewForbidden(slices, "", errors.New("no RBAC"))},
		{"429", apierrors.NewTooManyRequests("slow down", 1)},
		{"500", apierrors.NewInternalError(errors.New("etcd has no leader"))},
		{"404 of a proxy", apierrors.NewGenericServerResponse(http.StatusNotFound, "GET", schema.GroupResource{Resource: "services"}, "shop", "404 page not found", 0, true)},
	} {
		for read, funcs := range map[string]interceptor.Funcs{
			"service":   {Get: failGet(c.err)},
			"endpoints": {List: failList[*discoveryv1.EndpointSliceList](c.err)},
			"nodes":     {List: failList[*corev1.NodeList](c.err)},
		} {
			t.Run(c.name+" on "+read, func(t *testing.T) {
				g := NewWithT(t)
				s, n := slice("a", 8080, pod("10.0.0.5", "1")), node("n", goodID)
				q := ipQuery()
				if read == "nodes" {
					q = instanceQuery()
				}
				want, err := Resolver{Reader: interceptor.NewClient(reader(shop(), &s, &n), funcs)}.Want(t.Context(), q)
				unknown := new(UnknownError)
				g.Expect(errors.As(err, &unknown)).To(BeTrue(), "%v", err)
				g.Expect(err).To(MatchError(c.err))
				g.Expect(want).To(BeZero())
			})
		}
	}
}

// Case 4: a list for which the API server would need another page is a part.
func TestPartialListsAreUnknown(t *testing.T) {
	g := NewWithT(t)
	s := slice("a", 8080, pod("10.0.0.5", "1"))
	partial := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		err := c.List(ctx, list, opts...)
		list.SetResourceVersion("7")
		list.SetContinue("more")
		return err
	}}
	_, err := Resolver{Reader: interceptor.NewClient(reader(shop(), &s), partial)}.Want(t.Context(), ipQuery())
	unknown := new(UnknownError)
	g.Expect(errors.As(err, &unknown)).To(BeTrue(), "%v", err)
}

// A cache says "continue-not-supported" with every list, and means nothing by it.
func TestListsOfACacheAreComplete(t *testing.T) {
	g := NewWithT(t)
	s := slice("a", 8080, pod("10.0.0.5", "1"))
	cached := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		err := c.List(ctx, list, opts...)
		list.SetResourceVersion("")
		list.SetContinue("continue-not-supported")
		return err
	}}
	want := resolve(t, interceptor.NewClient(reader(shop(), &s), cached), ipQuery())
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080"}))
}

// Case 4: an empty page is what it says, nothing wanted. That is for the
// caller to confirm, and it is told apart from a failure.
func TestEmptyPageIsAnAnswer(t *testing.T) {
	g := NewWithT(t)
	want := resolve(t, reader(shop()), ipQuery())
	g.Expect(want.Targets).To(And(BeEmpty(), Not(BeNil())))
	want = resolve(t, reader(shop()), instanceQuery())
	g.Expect(want.Targets).To(And(BeEmpty(), Not(BeNil())))
}

// What is read from a cache is the cache's own, and must not be changed.
func TestReadsLeaveTheCacheAlone(t *testing.T) {
	g := NewWithT(t)
	all := []discoveryv1.EndpointSlice{slice("b", 8080, pod("10.0.0.6", "2")), slice("a", 8080, pod("10.0.0.5", "1"))}
	before := []discoveryv1.EndpointSlice{*all[0].DeepCopy(), *all[1].DeepCopy()}
	_, err := find(shop(), "ipv4", all...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(Equal(before))
}

func failGet(err error) func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
	return func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return err
	}
}

func failList[L client.ObjectList](err error) func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
	return func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if _, ok := list.(L); ok {
			return err
		}
		return c.List(ctx, list, opts...)
	}
}
