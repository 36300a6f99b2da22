package endpoints

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Hints knows of endpoints that are about to leave before their slice says so.
// Both readers are optional and should be caches, since they are asked about
// every endpoint. No answer, or an error, is no hint: the slice decides then.
type Hints struct {
	// Pods has the metadata of Pods. A Pod that is deleted leaves although its
	// slice still calls it ready.
	Pods client.Reader
	// Nodes has nodes. On a graceful node shutdown the kubelet ends its Pods
	// without deleting them, and they stay ready until they have ended or the
	// control plane has noticed; the node says it at once.
	Nodes client.Reader
}

func (h Hints) leaving(ctx context.Context, namespace string, ep *discoveryv1.Endpoint) bool {
	return h.podDeleted(ctx, namespace, ep.TargetRef) || h.nodeShutsDown(ctx, ep.NodeName)
}

func (h Hints) podDeleted(ctx context.Context, namespace string, ref *corev1.ObjectReference) bool {
	if h.Pods == nil || ref == nil || ref.Kind != "Pod" {
		return false
	}
	pod := &metav1.PartialObjectMetadata{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	err := h.Pods.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, pod, client.UnsafeDisableDeepCopy)
	// Another Pod of the same name, as a StatefulSet makes, says nothing.
	return err == nil && pod.UID == ref.UID && pod.DeletionTimestamp != nil
}

func (h Hints) nodeShutsDown(ctx context.Context, name *string) bool {
	if h.Nodes == nil || name == nil {
		return false
	}
	node := &corev1.Node{}
	err := h.Nodes.Get(ctx, client.ObjectKey{Name: *name}, node, client.UnsafeDisableDeepCopy)
	return err == nil && ShuttingDown(node)
}

// ShuttingDown reports whether the kubelet says that its node is in a graceful
// shutdown (https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/).
// It has no reason of its own for that, so the message has to do. Readiness
// alone would not: a kubelet that restarts is not ready for a moment, and its
// Pods serve on.
func ShuttingDown(node *corev1.Node) bool {
	c := ready(node)
	return c.Status == corev1.ConditionFalse && strings.Contains(c.Message, "node is shutting down")
}
