package endpoints

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestServiceOf(t *testing.T) {
	g := NewWithT(t)
	s := slice("shop-x7k", 8080)
	g.Expect(ServiceOf(&s).String()).To(Equal("web/shop"))
	s.Labels = nil
	g.Expect(ServiceOf(&s).Name).To(BeEmpty())
}

func TestSliceChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*discoveryv1.EndpointSlice)
		passes bool
	}{
		{"nothing", func(*discoveryv1.EndpointSlice) {}, false},
		{"trigger time", func(s *discoveryv1.EndpointSlice) {
			s.ResourceVersion = "8"
			s.Annotations = map[string]string{corev1.EndpointsLastChangeTriggerTime: "2026-01-01T00:00:00Z"}
		}, false},
		{"zone hints", func(s *discoveryv1.EndpointSlice) {
			s.Endpoints[0].Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: "eu-west-1a"}}}
		}, false},
		{"serving", func(s *discoveryv1.EndpointSlice) { s.Endpoints[1].Conditions.Serving = new(false) }, true},
		{"application protocol", func(s *discoveryv1.EndpointSlice) { s.Ports[0].AppProtocol = new("kubernetes.io/h2c") }, false},
		{"ready", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Conditions.Ready = new(false) }, true},
		{"terminating", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Conditions.Terminating = new(true) }, true},
		{"address", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses = []string{"10.0.0.9"} }, true},
		{"another Pod with the address", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].TargetRef.UID = "9" }, true},
		{"another node", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].NodeName = new("node-2") }, true},
		{"new endpoint", func(s *discoveryv1.EndpointSlice) { s.Endpoints = append(s.Endpoints, pod("10.0.0.9", "9")) }, true},
		{"endpoint gone", func(s *discoveryv1.EndpointSlice) { s.Endpoints = s.Endpoints[:1] }, true},
		{"port number", func(s *discoveryv1.EndpointSlice) { s.Ports[0].Port = new(int32(9090)) }, true},
		{"port name", func(s *discoveryv1.EndpointSlice) { s.Ports[0].Name = new("web") }, true},
		{"given to another service", func(s *discoveryv1.EndpointSlice) { s.Labels[discoveryv1.LabelServiceName] = "stock" }, true},
		{"taken over by hand", func(s *discoveryv1.EndpointSlice) { delete(s.Labels, discoveryv1.LabelManagedBy) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			before := slice("a", 8080, pod("10.0.0.5", "1"), dying(pod("10.0.0.6", "2")))
			after := before.DeepCopy()
			c.edit(after)
			g.Expect(SliceChanged().Update(event.UpdateEvent{ObjectOld: &before, ObjectNew: after})).To(Equal(c.passes))
		})
	}
}

func TestNodeChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*corev1.Node)
		passes bool
	}{
		{"heartbeat", func(n *corev1.Node) {
			n.ResourceVersion = "8"
			for i := range n.Status.Conditions {
				n.Status.Conditions[i].LastHeartbeatTime = metav1.Time{Time: time.Unix(1_800_000_000, 0)}
			}
		}, false},
		{"images and capacity", func(n *corev1.Node) {
			n.Status.Images = []corev1.ContainerImage{{Names: []string{"shop:2"}}}
			n.Status.Capacity = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("58")}
		}, false},
		{"annotation", func(n *corev1.Node) { n.Annotations = map[string]string{"a": "b"} }, false},
		{"pressure", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionTrue }, false},
		{"cordoned", cordoned, false},
		{"not ready", setReady(corev1.ConditionFalse), true},
		{"given up", taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute), true},
		{"about to be removed", taint("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule), true},
		{"deleted", deleted, true},
		{"label, which a selector may name", label("pool", "blue"), true},
		{"excluded", label(corev1.LabelNodeExcludeBalancers, ""), true},
		{"provider ID", func(n *corev1.Node) { n.Spec.ProviderID = "aws:///eu-west-1a/i-0bbb" }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			before := node("n", goodID)
			after := before.DeepCopy()
			c.edit(after)
			g.Expect(NodeChanged().Update(event.UpdateEvent{ObjectOld: &before, ObjectNew: after})).To(Equal(c.passes))
		})
	}
}

// Case 26: a node that was not ready before it shuts down.
func TestNodeChangedOnShutdown(t *testing.T) {
	g := NewWithT(t)
	before := node("n", goodID, notReadyBecause("container runtime is down"))
	after := node("n", goodID, notReadyBecause("container runtime is down, node is shutting down"))
	g.Expect(NodeChanged().Update(event.UpdateEvent{ObjectOld: &before, ObjectNew: &after})).To(BeTrue())
}

func TestServiceChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(*corev1.Service)
		passes bool
	}{
		{"status", func(s *corev1.Service) {
			s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}
		}, false},
		{"labels and selector", func(s *corev1.Service) {
			s.Labels, s.Spec.Selector = map[string]string{"a": "b"}, map[string]string{"app": "shop"}
		}, false},
		{"external traffic policy", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal }, true},
		{"case 25: type", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP }, true},
		{"case 25: node port", func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 31000 }, true},
		{"case 25: target port", func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromString("web") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			before, after := shop(), shop(c.edit)
			g.Expect(ServiceChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(c.passes))
		})
	}
}

// Objects that come or go always count.
func TestCreateAndDeletePass(t *testing.T) {
	s, n := slice("a", 8080), node("n", goodID)
	for _, o := range []client.Object{&s, &n, shop()} {
		g := NewWithT(t)
		g.Expect(SliceChanged().Create(event.CreateEvent{Object: o})).To(BeTrue())
		g.Expect(NodeChanged().Delete(event.DeleteEvent{Object: o})).To(BeTrue())
	}
}
