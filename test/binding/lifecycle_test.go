package binding

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
)

func TestABindingFromItsCreationToItsEnd(t *testing.T) {
	w := newWorld(t)
	w.somebodyRegisters("10.9.0.9:8080")
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")

	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.9.0.9:8080")
	east.expectRecord("web", at8080("10.0.0.1", "10.0.0.2"), nil)
	w.Expect(east.binding("web").Finalizers).To(ConsistOf(v1beta1.Finalizer))
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "2 of 2 targets registered")
	east.expectConsistent("web", metav1.ConditionTrue, v1beta1.ReasonConsistent)
	east.expectCounts("web", v1beta1.TargetCounts{Held: 2, External: 1})
	w.Expect(east.binding("web").Status.TargetGroupARN).To(Equal(w.group.ARN))

	east.scales("web", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080", "10.9.0.9:8080")
	east.expectCounts("web", v1beta1.TargetCounts{Held: 3, External: 1})

	east.scales("web", "10.0.0.3")
	east.reconciles("web")
	w.expectGroup("10.0.0.3:8080", "10.9.0.9:8080")
	east.expectRecord("web", at8080("10.0.0.3"), nil)
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "1 of 1 targets registered")

	east.scales("web")
	east.reconciles("web")
	w.expectGroup("10.9.0.9:8080")
	east.expectCounts("web", v1beta1.TargetCounts{External: 1})

	east.scales("web", "10.0.0.4")
	east.reconciles("web")
	east.deletes("web")
	east.reconciles("web")
	w.expectGroup("10.9.0.9:8080")
	east.expectNoRecord("web")
	east.expectGone("web")
}
