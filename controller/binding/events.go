package binding

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"target-ownership-controller/controller/api/v1beta1"
)

// routine are the reasons that come and go with the targets.
var routine = map[v1beta1.ConditionReason]bool{
	"":                                 true, // before the first pass
	v1beta1.ReasonReconciled:           true,
	v1beta1.ReasonNetworkingNotManaged: true,
	v1beta1.ReasonLimited:              true,
	v1beta1.ReasonHandingOver:          true,
	v1beta1.ReasonPending:              true,
	v1beta1.ReasonBlocked:              true,
}

// reportTransition makes one event when a trouble begins and one when it has
// ended, and none while the targets just come and go.
func (r *Reconciler) reportTransition(b *round, before *v1beta1.TargetGroupBinding, ready verdict) {
	var was v1beta1.ConditionReason
	if c := meta.FindStatusCondition(before.Status.Conditions, string(v1beta1.ConditionReady)); c != nil {
		was = v1beta1.ConditionReason(c.Reason)
	}
	switch {
	case was == ready.reason, routine[was] && routine[ready.reason]:
	case routine[ready.reason]:
		r.Events.Eventf(b.object, nil, corev1.EventTypeNormal, string(ready.reason), "Reconcile", "%s", ready.message)
	default:
		r.Events.Eventf(b.object, nil, corev1.EventTypeWarning, string(ready.reason), "Reconcile", "%s", ready.message)
	}
}

// reportSkipped names each endpoint that cannot be a target once. Events that
// differ in their note alone are counted as one (client-go, tools/events), so
// that each is about its endpoint too.
func (r *Reconciler) reportSkipped(b *round) {
	now := make(map[string]bool, len(b.skipped))
	for _, s := range b.skipped {
		now[s.Name] = true
		if !b.state.skipped[s.Name] {
			r.Events.Eventf(b.object, skippedObject(b.Namespace, s.Name), corev1.EventTypeWarning, "EndpointSkipped", "Reconcile", "%s is not registered: %s", s.Name, s.Reason)
		}
	}
	b.state.skipped = now
}

// skippedObject is such as the node of "node ip-10-0-0-1".
func skippedObject(namespace, name string) *corev1.ObjectReference {
	space := strings.LastIndex(name, " ")
	return &corev1.ObjectReference{Kind: name[:max(space, 0)], Namespace: namespace, Name: name[space+1:]}
}
