package endpoints

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func deletedPod(name string, uid types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "web", Name: name, UID: uid,
		DeletionTimestamp: &metav1.Time{Time: time.Unix(1_800_000_000, 0)},
		Finalizers:        []string{"example.com/keep"}, // or the fake API server would not have it
	}}
}

func notReadyBecause(message string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		setReady(corev1.ConditionFalse)(n)
		n.Status.Conditions[1].Message = message
	}
}

// Case 26: Pods leave at once, also while the slice still calls them ready.
func TestHints(t *testing.T) {
	failing := interceptor.NewClient(reader(), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("the cache has stopped")
	}})
	down := node("node-1", goodID, notReadyBecause("container runtime is down, node is shutting down"))
	restarting := node("node-1", goodID, notReadyBecause("PLEG is not healthy: pleg has yet to be successful"))
	up := node("node-1", goodID)
	for _, c := range []struct {
		name  string
		hints Hints
		stays bool
	}{
		{"no hints", Hints{}, true},
		{"case 26: the Pod is deleted", Hints{Pods: reader(deletedPod("pod-1", "1"))}, false},
		{"a Pod of the same name was deleted before", Hints{Pods: reader(deletedPod("pod-1", "0"))}, true},
		{"the Pod lives", Hints{Pods: reader(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "pod-1", UID: "1"}})}, true},
		{"case 22: the Pod is not in the cache", Hints{Pods: reader()}, true},
		{"case 26: the node shuts down", Hints{Nodes: reader(&down)}, false},
		{"the kubelet restarts", Hints{Nodes: reader(&restarting)}, true},
		{"the node is ready", Hints{Nodes: reader(&up)}, true},
		{"the node is not in the cache", Hints{Nodes: reader()}, true},
		{"case 4: the caches fail", Hints{Pods: failing, Nodes: failing}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := slice("a", 8080, pod("10.0.0.5", "1"))
			want, err := Resolver{Reader: reader(shop(), &s), Hints: c.hints}.Want(t.Context(), ipQuery())
			g.Expect(err).NotTo(HaveOccurred())
			if c.stays {
				g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080"}))
			} else {
				g.Expect(want.Targets).To(BeEmpty())
			}
		})
	}
}
