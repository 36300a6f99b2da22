package endpoints

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"target-ownership-controller/ownership"
)

// shop is a Service with a named port 80 and the numeric target port 8080.
func shop(edit ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"},
		Spec: corev1.ServiceSpec{
			Type:  corev1.ServiceTypeNodePort,
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080), NodePort: 30080}},
		},
	}
	for _, e := range edit {
		e(s)
	}
	return s
}

// slice is an IPv4 slice of shop, as the EndpointSlice controller writes it.
func slice(name string, port int32, endpoints ...discoveryv1.Endpoint) discoveryv1.EndpointSlice {
	return discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, Labels: map[string]string{
			discoveryv1.LabelServiceName: "shop",
			discoveryv1.LabelManagedBy:   "endpointslice-controller.k8s.io",
		}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("http"), Port: &port}},
		Endpoints:   endpoints,
	}
}

// pod is a ready endpoint of the Pod with the UID.
func pod(address, uid string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{
		Addresses:  []string{address},
		Conditions: discoveryv1.EndpointConditions{Ready: new(true), Serving: new(true), Terminating: new(false)},
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: "web", Name: "pod-" + uid, UID: types.UID(uid)},
		NodeName:   new("node-1"),
	}
}

func notReady(ep discoveryv1.Endpoint) discoveryv1.Endpoint {
	ep.Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(false), Terminating: new(false)}
	return ep
}

func dying(ep discoveryv1.Endpoint) discoveryv1.Endpoint {
	ep.Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
	return ep
}

// node is a ready EC2 node.
func node(name, providerID string, edit ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{ProviderID: providerID},
	}
	setReady(corev1.ConditionTrue)(&n)
	for _, e := range edit {
		e(&n)
	}
	return n
}

func setReady(status corev1.ConditionStatus) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
			{Type: corev1.NodeReady, Status: status},
		}
	}
}

func taint(key string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect})
	}
}

func label(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[key] = value
	}
}

func ipQuery() Query {
	return Query{Namespace: "web", ServiceName: "shop", ServicePort: intstr.FromString("http"), TargetType: "ip", Family: "ipv4"}
}

func instanceQuery() Query {
	return Query{Namespace: "web", ServiceName: "shop", ServicePort: intstr.FromInt32(80), TargetType: "instance"}
}

func reader(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithObjects(objects...).Build()
}

func resolve(t *testing.T, r client.Reader, q Query) Want {
	t.Helper()
	want, err := Resolver{Reader: r}.Want(t.Context(), q)
	if err != nil {
		t.Fatalf("Want: %v", err)
	}
	return want
}

// names lists targets in order, to compare them with what is written out.
func names(set ownership.Set) []string {
	list := make([]string, 0, len(set))
	for t, in := range set {
		if in {
			list = append(list, string(t))
		}
	}
	slices.Sort(list)
	return list
}
