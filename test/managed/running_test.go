package managed

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
)

func withoutAnnotations(o *controller.Options) { o.FromAnnotations = false }

// Bindings stay at work without what made them, and what was removed meanwhile
// is noticed afterwards.
func TestSwitchedOffAndOn(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", inGroup("web"))
	w.runs("api", "10.0.1.1", inGroup("web"))
	stop := w.starts()
	w.eventuallyGroup("web", "10.0.0.1:8080", "10.0.1.1:8080")
	stop()

	w.annotates(&corev1.Service{}, "web", map[string]string{managed.TargetGroupsAnnotation: ""})
	stop = w.starts(withoutAnnotations)
	w.Expect(cluster.SetEndpoints(t.Context(), w.namespace, "web", "10.0.0.2")).To(Succeed())
	w.eventuallyGroup("web", "10.0.0.2:8080", "10.0.1.1:8080")
	w.Expect(w.bindings()).To(HaveLen(2))
	stop()

	w.starts()
	w.eventuallyKept(1)
	w.eventuallyGroup("web", "10.0.1.1:8080")
}

// A change that means nothing writes nothing, nor does a start. The event on
// the second Service, which comes after the first in the queue, shows that
// that one had its turn.
func TestNothingToDoWritesNothing(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.runs("web", "10.0.0.1", inGroup("web"))
	w.runs("zzz", "10.0.0.2", inGroup("htp: web"))
	stop := w.starts()
	w.Eventually(func() bool { return ready(w.only()) }).Should(BeTrue())
	w.eventuallyEvent("web", string(managed.ReasonBindingCreated))
	w.eventuallyEvent("zzz", string(managed.ReasonPortNotFound))
	resource := w.kind.Resource
	before := w.writes.of(resource)
	w.Expect(before).To(BeNumerically(">=", 3), "the binding, its finalizer, its status")

	w.annotates(&corev1.Service{}, "web", map[string]string{"unrelated": "1"})
	w.annotates(&corev1.Service{}, "zzz", inGroup("htp: [web"))
	w.eventuallyEvent("zzz", string(managed.ReasonInvalidAnnotation))
	w.Expect(w.writes.of(resource)).To(Equal(before))
	w.Expect(w.events("web")).To(HaveKeyWithValue(string(managed.ReasonBindingCreated), 1))

	stop()
	w.annotates(&corev1.Service{}, "zzz", inGroup("[web, web]: web"))
	w.starts()
	w.Eventually(func() int { return w.writes.of("events") }).Should(BeNumerically(">", 3))
	w.Expect(w.writes.of(resource)).To(Equal(before))
}
