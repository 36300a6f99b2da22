package endpoints

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func notReadyBecause(message string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		setReady(corev1.ConditionFalse)(n)
		n.Status.Conditions[1].Message = message
	}
}

// Case 26: Pods of a node that shuts down leave while their slice still calls
// them ready.
func TestCase26ANodeThatShutsDown(t *testing.T) {
	failing := interceptor.NewClient(reader(), interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("the cache has stopped")
	}})
	down := node("node-1", goodID, notReadyBecause("container runtime is down, node is shutting down"))
	restarting := node("node-1", goodID, notReadyBecause("PLEG is not healthy: pleg has yet to be successful"))
	up := node("node-1", goodID)
	for _, c := range []struct {
		name  string
		nodes client.Reader
		stays bool
	}{
		{"nobody knows the nodes", nil, true},
		{"the node shuts down", reader(&down), false},
		{"the kubelet restarts", reader(&restarting), true},
		{"the node is ready", reader(&up), true},
		{"the node is not in the cache", reader(), true},
		{"case 4: the cache fails", failing, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := slice("a", 8080, pod("10.0.0.5", "1"))
			want, err := Resolver{Reader: reader(shop(), &s), Nodes: c.nodes}.Want(t.Context(), ipQuery())
			g.Expect(err).NotTo(HaveOccurred())
			if c.stays {
				g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080"}))
			} else {
				g.Expect(want.Targets).To(BeEmpty())
			}
		})
	}
}
