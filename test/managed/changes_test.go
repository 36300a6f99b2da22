package managed

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
)

// bound is a world with a Service whose target is in group web.
func bound(t *testing.T, k kind.Kind) *world {
	t.Helper()
	w := newWorld(t, k)
	w.runs("web", "10.0.0.1", inGroup("web"))
	w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.Eventually(func() bool { return ready(w.only()) }).Should(BeTrue())
	return w
}

// The same group in another form is another binding, and the targets stay.
func TestGroupByNameThenByARN(t *testing.T) {
	w := bound(t, kind.TargetGroupBinding)
	stays := w.nothingLeaves()
	w.annotates(&corev1.Service{}, "web", inGroup(w.groups["web"].ARN))
	w.Eventually(func() string { return w.only().Spec.TargetGroupARN }).Should(Equal(w.groups["web"].ARN))
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays()
}

// The target is in the new group before it leaves the old one, and stays in
// that while nobody knows the new one.
func TestGroupChanged(t *testing.T) {
	w := bound(t, kind.SharedTargetGroupBinding)
	check := w.isAlwaysSomewhere("10.0.0.1:8080")
	w.annotates(&corev1.Service{}, "web", inGroup("other"))
	w.eventuallyGroup("other", "10.0.0.1:8080")
	w.eventuallyGroup("web")
	w.eventuallyBindings(1)

	stays := w.nothingLeaves()
	w.annotates(&corev1.Service{}, "web", inGroup("othr"))
	w.eventuallyEvent("web", string(v1beta1.ReasonGroupNotFound))
	w.eventuallyBindings(2)
	w.annotates(&corev1.Service{}, "web", inGroup("other"))
	w.eventuallyBindings(1)
	stays()
	check()
	w.eventuallyGroup("other", "10.0.0.1:8080")
}

// One of two groups of a port goes at once, since the other one is served.
func TestOneGroupOfTwoRemoved(t *testing.T) {
	w := bound(t, kind.TargetGroupBinding)
	w.annotates(&corev1.Service{}, "web", inGroup("[web, other]"))
	w.eventuallyGroup("other", "10.0.0.1:8080")
	w.annotates(&corev1.Service{}, "web", inGroup("other"))
	w.eventuallyGroup("web")
	w.eventuallyBindings(1)
	w.Expect(w.sim.Registered(w.groups["other"].ARN)).To(ConsistOf("10.0.0.1:8080"))
}

// The slices have the new name later than the Service, and the target stays.
func TestPortRenamed(t *testing.T) {
	w := bound(t, kind.TargetGroupBinding)
	stays := w.nothingLeaves()
	service := &corev1.Service{}
	w.changes(service, "web", func() {
		service.Spec.Ports[0].Name = "renamed"
		service.Annotations[managed.TargetGroupsAnnotation] = "renamed: web"
	})
	w.eventuallyBindings(2)
	w.Eventually(func(g Gomega) {
		for _, b := range w.bindings() {
			reason := v1beta1.ReasonPortNotFound
			if b.Spec.ServiceRef.Port == intstr.FromString("renamed") {
				reason = v1beta1.ReasonEndpointsUnknown
			}
			g.Expect(b.Status.Conditions).To(ContainElement(HaveField("Reason", string(reason))))
		}
	}).Should(Succeed())
	slice := &discoveryv1.EndpointSlice{}
	w.changes(slice, "web-ipv4", func() { slice.Ports[0].Name = new("renamed") })
	w.eventuallyBindings(1)
	w.Expect(w.only().Spec.ServiceRef.Port).To(Equal(intstr.FromString("renamed")))
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays()
}

func TestSeveralPorts(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.starts()
	w.runs("web", "10.0.0.1", inGroup("http: web\n9000: other"))
	w.eventuallyEvent("web", string(managed.ReasonPortNotFound))
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays := w.nothingLeaves()
	service, slice := &corev1.Service{}, &discoveryv1.EndpointSlice{}
	w.changes(service, "web", func() {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "admin", Port: 9000, TargetPort: intstr.FromInt32(9001)})
	})
	w.changes(slice, "web-ipv4", func() {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: new("admin"), Port: new(int32(9001))})
	})
	w.eventuallyGroup("other", "10.0.0.1:9001")
	w.eventuallyBindings(2)
	stays()
	w.annotates(&corev1.Service{}, "web", inGroup("admin: other"))
	w.eventuallyGroup("web")
	w.eventuallyBindings(1)
	w.Expect(cluster.SetEndpoints(t.Context(), w.namespace, "web")).To(Succeed())
	w.eventuallyGroup("other")
}

// Events that differ in their note alone are counted as one and show the first.
func TestEachBindingHasItsEvents(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.starts()
	w.runs("web", "10.0.0.1", inGroup("http: [nosuch-a, nosuch-b, nosuch-c]"))
	for _, group := range []string{"nosuch-a", "nosuch-b", "nosuch-c"} {
		w.Eventually(func() []string { return w.notes("web") }).Should(ContainElements(
			And(HavePrefix(string(managed.ReasonBindingCreated)), ContainSubstring(group)),
			And(HavePrefix(string(v1beta1.ReasonGroupNotFound)), ContainSubstring(group), ContainSubstring("annotations of Service web: correct it there")),
		))
	}
}
