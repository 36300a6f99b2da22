package readiness

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/endpoints"
)

// Strip makes of a Pod what the cache keeps of it: nearly nothing of one
// without a gate of ours.
func Strip(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	lean := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		ResourceVersion: pod.ResourceVersion, DeletionTimestamp: pod.DeletionTimestamp,
	}}
	if len(gatesOf(pod)) == 0 {
		return lean, nil
	}
	lean.Labels, lean.Spec.ReadinessGates = pod.Labels, pod.Spec.ReadinessGates
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.ContainersReady || c.Type == corev1.PodReady || hasGate(pod, c.Type) {
			lean.Status.Conditions = append(lean.Status.Conditions, c)
		}
	}
	return lean, nil
}

func hasGate(pod *corev1.Pod, t corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == t })
}

// gatesOf are the gates of a Pod that tell of targets.
func gatesOf(pod *corev1.Pod) []corev1.PodConditionType {
	var gates []corev1.PodConditionType
	for _, g := range pod.Spec.ReadinessGates {
		if IsGate(g.ConditionType) {
			gates = append(gates, g.ConditionType)
		}
	}
	return gates
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == t })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

func isTrue(pod *corev1.Pod, t corev1.PodConditionType) bool {
	c := condition(pod, t)
	return c != nil && c.Status == corev1.ConditionTrue
}

// pending are the gates that a Pod waits for. Before its containers are ready,
// and once it terminates, it waits for no target.
func pending(pod *corev1.Pod) []corev1.PodConditionType {
	if !pod.DeletionTimestamp.IsZero() || !isTrue(pod, corev1.ContainersReady) {
		return nil
	}
	return slices.DeleteFunc(gatesOf(pod), func(t corev1.PodConditionType) bool { return isTrue(pod, t) })
}

// gatesNotReady is the reason of the kubelet for a Pod that lacks nothing but
// conditions of its readiness gates.
const gatesNotReady = "ReadinessGatesNotReady"

// waits judges a Pod that its slice does not call ready. One whose last gate is
// open becomes ready when the kubelet has seen it, and stays a target until
// then; one that is not ready for another reason, such as its node, does not.
// A gate of somebody else comes first.
func waits(pod *corev1.Pod) endpoints.Waits {
	if len(gatesOf(pod)) == 0 || !pod.DeletionTimestamp.IsZero() || !isTrue(pod, corev1.ContainersReady) {
		return endpoints.Waits{}
	}
	for _, g := range pod.Spec.ReadinessGates {
		if !IsGate(g.ConditionType) && !isTrue(pod, g.ConditionType) {
			return endpoints.Waits{}
		}
	}
	ready := condition(pod, corev1.PodReady)
	ask := len(pending(pod)) > 0
	behind := ready != nil && (ready.Status == corev1.ConditionTrue || ready.Reason == gatesNotReady)
	return endpoints.Waits{Only: ask || behind, Ask: ask}
}
