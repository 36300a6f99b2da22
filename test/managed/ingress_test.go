package managed

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
)

const albController = "ingress.k8s.aws/alb"

func TestIngressFromBeginningToEnd(t *testing.T) {
	w := newWorld(t, kind.SharedTargetGroupBinding)
	alb, nginx := w.class(albController), w.class("k8s.io/ingress-nginx")
	w.runs("web", "10.0.0.1", nil)
	w.runs("api", "10.0.0.2", nil)
	w.starts()
	w.routes("shop", alb, "web: web\napi: other", "web", "api", "late")
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.eventuallyGroup("other", "10.0.0.2:8080")

	ingress := &networkingv1.Ingress{}
	w.changes(ingress, "shop", func() { ingress.Spec.IngressClassName = &nginx })
	w.eventuallyEvent("shop", "OtherIngressClass")
	w.eventuallyBindings(0)
	w.eventuallyGroup("web")

	w.changes(ingress, "shop", func() { ingress.Spec.IngressClassName = &alb })
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.Expect(cluster.Client.Delete(t.Context(), ingress)).To(Succeed())
	w.eventuallyBindings(0)
	w.eventuallyGroup("web")
}

// A Service and a class that come after the Ingress; a class that goes.
func TestWhatAnIngressRefersTo(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.starts()
	alb := w.class(albController)
	w.routes("shop", alb, "web", "web")
	w.eventuallyEvent("shop", "ServiceNotFound")
	w.runs("web", "10.0.0.1", nil)
	w.eventuallyGroup("web", "10.0.0.1:8080")

	stays := w.nothingLeaves()
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: alb}}
	w.Expect(cluster.Client.Delete(t.Context(), class)).To(Succeed())
	w.eventuallyEvent("shop", "IngressClassNotFound")
	w.eventuallyBindings(1)
	stays()
}

// Two Ingresses of a group, and the Service itself: one binding, which stays
// until the last of them has gone.
func TestOneBindingForAllThatAskForIt(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	alb := w.class(albController)
	w.runs("web", "10.0.0.1", inGroup("web"))
	w.starts()
	w.routes("a", alb, "web", "web")
	w.routes("b", alb, "web:http: web", "web")
	owners := func() []string {
		var names []string
		for _, ref := range w.only().OwnerReferences {
			names = append(names, ref.Kind+" "+ref.Name)
		}
		return names
	}
	controller := func() *metav1.OwnerReference { return metav1.GetControllerOf(w.only()) }
	w.Eventually(owners).Should(ConsistOf("Service web", "Ingress a", "Ingress b"))
	w.eventuallyGroup("web", "10.0.0.1:8080")
	stays := w.nothingLeaves()

	w.annotates(&corev1.Service{}, "web", map[string]string{managed.TargetGroupsAnnotation: ""})
	w.Eventually(owners).Should(ConsistOf("Ingress a", "Ingress b"))
	w.Eventually(controller).ShouldNot(BeNil())
	w.Expect(cluster.Client.Delete(t.Context(), &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "a"}})).To(Succeed())
	w.Eventually(owners).Should(ConsistOf("Ingress b"))
	w.Eventually(controller).ShouldNot(BeNil())
	stays()
	w.Expect(cluster.Client.Delete(t.Context(), &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "b"}})).To(Succeed())
	w.eventuallyBindings(0)
	w.eventuallyGroup("web")
}
