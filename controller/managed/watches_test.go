package managed_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
)

// Owners look at each drift of a binding and at its readiness, and not at what
// its pods do.
func TestWhatOwnersLookAt(t *testing.T) {
	condition := func(b *v1beta1.TargetGroupBinding) *metav1.Condition { return &b.Status.Conditions[0] }
	for name, c := range map[string]struct {
		change func(*v1beta1.TargetGroupBinding)
		want   bool
	}{
		"spec":        {func(b *v1beta1.TargetGroupBinding) { b.Generation++ }, true},
		"labels":      {func(b *v1beta1.TargetGroupBinding) { delete(b.Labels, managed.ManagedLabel) }, true},
		"annotations": {func(b *v1beta1.TargetGroupBinding) { b.Annotations = map[string]string{"a": "b"} }, true},
		"owners":      {func(b *v1beta1.TargetGroupBinding) { b.OwnerReferences = nil }, true},
		"reason":      {func(b *v1beta1.TargetGroupBinding) { condition(b).Reason = "Other" }, true},
		"status":      {func(b *v1beta1.TargetGroupBinding) { condition(b).Status = metav1.ConditionUnknown }, true},
		"caught up":   {func(b *v1beta1.TargetGroupBinding) { b.Status.ObservedGeneration = 1 }, true},
		"message":     {func(b *v1beta1.TargetGroupBinding) { condition(b).Message = "2 of 2 targets" }, false},
		"counts":      {func(b *v1beta1.TargetGroupBinding) { b.Status.Targets = &v1beta1.TargetCounts{Held: 2} }, false},
		"finalizers":  {func(b *v1beta1.TargetGroupBinding) { b.Finalizers = []string{v1beta1.Finalizer} }, false},
	} {
		before := &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{
			Generation: 1, Labels: map[string]string{managed.ManagedLabel: "true"}, OwnerReferences: []metav1.OwnerReference{{Name: "web"}},
		}, Status: ready(0)}
		after := before.DeepCopy()
		c.change(after)
		NewWithT(t).Expect(managed.BindingChanged(kind.TargetGroupBinding).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})).To(Equal(c.want), name)
	}
}
