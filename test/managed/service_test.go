package managed

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
	"target-ownership-controller/test/kube"
)

func TestAnnotationSetAndRemoved(t *testing.T) {
	for _, k := range kind.All {
		t.Run(k.Name, func(t *testing.T) {
			w := newWorld(t, k)
			w.runs("web", "10.0.0.1", nil)
			w.starts()
			w.annotates(&corev1.Service{}, "web", inGroup("web"))
			w.eventuallyGroup("web", "10.0.0.1:8080")
			b := w.only()
			w.Expect(b.Labels).To(HaveKeyWithValue(managed.ManagedLabel, "true"))
			w.Expect(b.Spec.MultiClusterTargetGroup).To(BeTrue())
			service := &corev1.Service{}
			w.Expect(cluster.Client.Get(t.Context(), w.key("web"), service)).To(Succeed())
			w.Expect(metav1.IsControlledBy(b, service)).To(BeTrue())
			w.eventuallyEvent("web", "BindingCreated")

			w.annotates(&corev1.Service{}, "web", map[string]string{managed.TargetGroupsAnnotation: ""})
			w.eventuallyGroup("web")
			w.eventuallyBindings(0)
			w.eventuallyEvent("web", "BindingDeleted")
		})
	}
}

// The garbage collector deletes the binding, and its finalizer waits until the
// targets are out.
func TestServiceDeleted(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", inGroup("web"))
	w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.Expect(cluster.Client.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "web"}})).To(Succeed())
	w.eventuallyBindings(0)
	w.eventuallyGroup("web")
}

func TestDriftIsRepaired(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", inGroup("web"))
	w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays := w.nothingLeaves()
	name := w.only().Name
	b := &v1beta1.TargetGroupBinding{}
	w.changes(b, name, func() {
		b.Spec.ServiceRef.Port = intstr.FromInt32(kube.ServicePort)
		b.Labels = map[string]string{"team": "shop"}
		b.Annotations = map[string]string{v1beta1.DeletionPolicyAnnotation: "Retain", "note": "mine"}
		b.Spec.NodeSelector = nil
	})
	w.Eventually(func(g Gomega) {
		got := w.bindings()[name]
		g.Expect(got.Spec.ServiceRef.Port).To(Equal(intstr.FromString("http")))
		g.Expect(got.Labels).To(And(HaveKeyWithValue(managed.ManagedLabel, "true"), HaveKey("team")))
		g.Expect(got.Annotations).To(And(Not(HaveKey(v1beta1.DeletionPolicyAnnotation)), HaveKey("note")))
	}).Should(Succeed())
	stays()
	w.Expect(cluster.Client.Delete(t.Context(), w.only())).To(Succeed())
	w.Eventually(func() types.UID { return w.only().UID }).ShouldNot(Equal(b.UID))
	w.eventuallyGroup("web", "10.0.0.1:8080")
}

func TestPolicyOfTheService(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	annotations := inGroup("web")
	annotations[v1beta1.DeletionPolicyAnnotation] = v1beta1.DeletionPolicyRetain
	w.runs("web", "10.0.0.1", annotations)
	w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.annotates(&corev1.Service{}, "web", map[string]string{managed.TargetGroupsAnnotation: ""})
	w.eventuallyBindings(0)
	w.Expect(w.sim.Registered(w.groups["web"].ARN)).To(ConsistOf("10.0.0.1:8080"))
}

// A binding made by hand keeps its name, and one of the same port and group
// stays beside the managed one, so that it can be deleted without a gap.
func TestBindingsMadeByHand(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", nil)
	mine := managed.Wanted{Service: "web", Port: intstr.FromString("http")}
	mine.Group = "web"
	byHand := func(name, service string) *v1beta1.TargetGroupBinding {
		return &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.TargetGroupBindingSpec{
			TargetGroupName: "web", MultiClusterTargetGroup: true, ServiceRef: v1beta1.ServiceReference{Name: service, Port: intstr.FromString("http")},
		}}
	}
	w.has(byHand(mine.Name(), "web"))
	w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.annotates(&corev1.Service{}, "web", inGroup("web"))
	w.eventuallyEvent("web", "NameTaken")
	w.Expect(w.only().Labels).To(BeEmpty())
	w.Expect(w.only().OwnerReferences).To(BeEmpty())

	w.has(byHand("by-hand", "web"))
	w.Eventually(func() bool { return ready(w.bindings()["by-hand"]) }).Should(BeTrue())
	stays := w.nothingLeaves()
	w.Expect(cluster.Client.Delete(t.Context(), w.bindings()[mine.Name()])).To(Succeed())
	w.Eventually(func() bool {
		b := w.bindings()[mine.Name()]
		return b != nil && ready(b) && len(b.OwnerReferences) == 1
	}).Should(BeTrue())
	w.Expect(cluster.Client.Delete(t.Context(), w.bindings()["by-hand"])).To(Succeed())
	w.eventuallyBindings(1)
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays()
}

// What cannot be read takes nothing out; what is said once is not repeated.
func TestBrokenAnnotation(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", inGroup("http: web"))
	w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays := w.nothingLeaves()
	w.annotates(&corev1.Service{}, "web", inGroup("htp: web"))
	w.eventuallyEvent("web", "PortNotFound")
	w.eventuallyBindings(1)
	w.annotates(&corev1.Service{}, "web", map[string]string{"unrelated": "1"})
	w.annotates(&corev1.Service{}, "web", map[string]string{managed.ServiceSharedAnnotation: "ja"})
	w.eventuallyEvent("web", "InvalidAnnotation")
	w.Expect(w.events("web")).To(HaveKeyWithValue("PortNotFound", 1))
	w.eventuallyBindings(1)
	stays()
	w.annotates(&corev1.Service{}, "web", map[string]string{managed.ServiceSharedAnnotation: "false"})
	w.eventuallyEvent("web", "NotShared")
	w.eventuallyBindings(0)
}

// A group that does not exist is told on the Service, where people look.
func TestTroubleOfTheBinding(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", inGroup("nothing"))
	w.starts()
	w.eventuallyEvent("web", string(v1beta1.ReasonGroupNotFound))
}
