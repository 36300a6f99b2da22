package endpoints

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// shutsDown reports whether the node of an endpoint is in a graceful shutdown.
// The kubelet then ends its Pods without deleting them, and their slices call
// them ready until they have ended; the node says it at once. No answer, or an
// error, is no hint: the slice decides then.
func (r Resolver) shutsDown(ctx context.Context, name *string) bool {
	if r.Nodes == nil || name == nil {
		return false
	}
	node := &corev1.Node{}
	err := r.Nodes.Get(ctx, client.ObjectKey{Name: *name}, node, client.UnsafeDisableDeepCopy)
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
