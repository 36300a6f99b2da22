package binding

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/endpoints"
)

// reportTransition makes an event when the reason of Ready changes: one for
// each trouble and one for its end, none while the targets just come and go.
func (r *Reconciler) reportTransition(b *round, before *v1beta1.TargetGroupBinding, ready verdict) {
	was := meta.FindStatusCondition(before.Status.Conditions, string(v1beta1.ConditionReady))
	switch {
	case was != nil && was.Reason == string(ready.reason):
	case ready.status == metav1.ConditionTrue && was == nil, ready.reason == v1beta1.ReasonPending:
	case ready.status == metav1.ConditionTrue:
		r.Events.Eventf(b, nil, corev1.EventTypeNormal, string(ready.reason), "Reconcile", "%s", ready.message)
	default:
		r.Events.Eventf(b, nil, corev1.EventTypeWarning, string(ready.reason), "Reconcile", "%s", ready.message)
	}
}

// reportSkipped names each endpoint that cannot be a target once.
func (r *Reconciler) reportSkipped(b *round, skipped []endpoints.Skipped) {
	now := make(map[string]bool, len(skipped))
	for _, s := range skipped {
		now[s.Name] = true
		if !b.state.skipped[s.Name] {
			r.Events.Eventf(b, nil, corev1.EventTypeWarning, "EndpointSkipped", "Reconcile", "%s is not registered: %s", s.Name, s.Reason)
		}
	}
	b.state.skipped = now
}
