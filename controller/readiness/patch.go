package readiness

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// changed are the conditions that the Pod does not have as they are to be. The
// time of the last probe alone is no change.
func changed(pod *corev1.Pod, verdicts map[corev1.PodConditionType]verdict, now time.Time) []corev1.PodCondition {
	var conditions []corev1.PodCondition
	for _, t := range pending(pod) {
		v, old := verdicts[t], condition(pod, t)
		if v.status == "" || old != nil && old.Status == v.status && old.Reason == v.reason && old.Message == v.message {
			continue
		}
		c := corev1.PodCondition{Type: t, Status: v.status, Reason: v.reason, Message: v.message, LastTransitionTime: metav1.NewTime(now)}
		if old != nil && old.Status == v.status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		if !v.probed.IsZero() {
			c.LastProbeTime = metav1.NewTime(v.probed)
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// patch sets conditions of this very Pod, and touches no others. What is not
// True is set on the Pod as it was read only: it may be True by now, and stay
// so.
func patch(ctx context.Context, w client.Client, pod *corev1.Pod, conditions []corev1.PodCondition) error {
	metadata := map[string]any{"uid": pod.UID}
	for _, c := range conditions {
		if c.Status != corev1.ConditionTrue {
			metadata["resourceVersion"] = pod.ResourceVersion
		}
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata, "status": map[string]any{"conditions": conditions}})
	if err != nil {
		return err
	}
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	return w.Status().Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, body))
}
