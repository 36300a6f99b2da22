package binding

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

// A Service with a port of each kind, whose endpoints are in one slice.
func (s *site) runsManyPorts(service string, addresses ...string) {
	s.t.Helper()
	s.has(serviceOf(service,
		corev1.ServicePort{Name: "http", Port: 80, TargetPort: intstr.FromString("http")},
		corev1.ServicePort{Name: "dns", Port: 53, TargetPort: intstr.FromString("dns")},
		corev1.ServicePort{Name: "dns-udp", Port: 53, TargetPort: intstr.FromString("dns-udp"), Protocol: corev1.ProtocolUDP},
	))
	slice := sliceOf(service, service, 8080)
	slice.Ports[0].Name = new("http")
	for name, number := range map[string]int32{"dns": 5300, "dns-udp": 5353} {
		slice.Ports = append(slice.Ports, slice.Ports[0])
		last := &slice.Ports[len(slice.Ports)-1]
		last.Name, last.Port = new(name), new(number)
	}
	for _, address := range addresses {
		slice.Endpoints = append(slice.Endpoints, ready(address))
	}
	s.has(slice)
}

func TestPortsAndProtocols(t *testing.T) {
	for name, test := range map[string]struct {
		protocol string
		port     intstr.IntOrString
		want     string
	}{
		"named port":                {"TCP", intstr.FromString("http"), "10.0.0.1:8080"},
		"numbered port":             {"TCP", intstr.FromInt32(80), "10.0.0.1:8080"},
		"HTTP group":                {"HTTP", intstr.FromString("http"), "10.0.0.1:8080"},
		"port of two protocols":     {"TCP", intstr.FromInt32(53), "10.0.0.1:5300"},
		"UDP group":                 {"UDP", intstr.FromInt32(53), "10.0.0.1:5353"},
		"UDP port by name":          {"UDP", intstr.FromString("dns-udp"), "10.0.0.1:5353"},
		"TCP_UDP takes the TCP one": {"TCP_UDP", intstr.FromInt32(53), "10.0.0.1:5300"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, elbsim.Group{Protocol: test.protocol})
			east := w.cluster("east")
			east.runsManyPorts("web", "10.0.0.1")
			east.binds("web", toPort(test.port))
			east.reconciles("web")
			w.expectGroup(test.want)
			east.expectReconciled("web")
		})
	}
}

func TestIPv6Group(t *testing.T) {
	w := newWorld(t, elbsim.Group{IPAddressType: elbsim.IPv6})
	east := w.cluster("east")
	east.runs("web", "2001:db8::5", "2001:db8::6", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	w.expectGroup("[2001:db8::5]:8080", "[2001:db8::6]:8080")
	east.deletes("web")
	east.reconciles("web")
	w.expectGroup()
	east.expectGone("web")
}

func TestGroupByARNOrName(t *testing.T) {
	for name, by := range map[string]func(elbsim.Group) edit{
		"ARN":  func(g elbsim.Group) edit { return toGroup(g.ARN, "") },
		"name": func(g elbsim.Group) edit { return toGroup("", g.Name) },
		"both": func(g elbsim.Group) edit { return toGroup(g.ARN, g.Name) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, elbsim.Group{Name: "other"}, elbsim.Group{Name: "web"})
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web", by(w.group))
			east.reconciles("web")
			w.expectGroup("10.0.0.1:8080")
			w.Expect(east.binding("web").Status.TargetGroupARN).To(Equal(w.group.ARN))

			east.restarts()
			east.deletes("web")
			east.settles("web") // a registration of the old process may still land
			w.expectGroup()
			east.expectGone("web")
		})
	}
}

// node is an EC2 instance of the site, ready unless changed.
func (s *site) node(instance string, edits ...func(*corev1.Node)) {
	s.t.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace + "-" + instance, Labels: map[string]string{"site": s.namespace}},
		Spec:       corev1.NodeSpec{ProviderID: "aws:///us-east-1a/" + instance},
	}
	for _, change := range edits {
		change(node)
	}
	s.Expect(s.api.Client.Create(s.t.Context(), node)).To(Succeed())
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	s.Expect(s.api.Client.Status().Update(s.t.Context(), node)).To(Succeed())
	s.t.Cleanup(func() { s.Expect(s.api.Client.Delete(context.Background(), node)).To(Succeed()) })
}

// onOwnNodes keeps the binding from the nodes of other tests.
func (s *site) onOwnNodes(b *v1beta1.TargetGroupBinding) {
	b.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"site": s.namespace}}
}

func nodePort(number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: "http", Port: 80, NodePort: number}
}

func (s *site) runsOnNodePort(name string, port int32) {
	s.t.Helper()
	service := serviceOf(name, nodePort(port))
	service.Spec.Type = corev1.ServiceTypeNodePort
	s.has(service)
}

func TestInstances(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.runsOnNodePort("web", 30101)
	east.node("i-0a")
	east.node("i-0b")
	east.node("i-0c", func(n *corev1.Node) { n.Labels["site"] = "another" })
	east.binds("web", east.onOwnNodes)
	east.reconciles("web")
	w.expectGroup("i-0a:30101", "i-0b:30101")
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "2 of 2 targets registered")

	east.node("i-0d")
	east.reconciles("web")
	w.expectGroup("i-0a:30101", "i-0b:30101", "i-0d:30101")

	east.deletes("web")
	east.reconciles("web")
	w.expectGroup()
	east.expectGone("web")
	w.Expect(w.records()).To(BeEmpty())
}
