package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RunPodAt adds a ready pod with an address of the test's choice to the app
// and waits until it is in the slices. So two clusters can be given the same
// pod address, one after the other or at once.
//
// The pod is on a node of its own that kwok leaves alone: deleted with a
// grace period it stays Terminating until the test deletes it with none.
func (a *App) RunPodAt(ctx context.Context, address string) (*corev1.Pod, error) {
	node, err := a.cluster.manualNode(ctx)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.Namespace, GenerateName: a.Name + "-manual-", Labels: a.labels(),
		},
		Spec: podSpec(),
	}
	pod.Spec.NodeName = node
	if err := a.cluster.Client.Create(ctx, pod); err != nil {
		return nil, a.failed("add a pod to", err)
	}
	pod.Status = corev1.PodStatus{
		Phase:      corev1.PodRunning,
		PodIP:      address,
		PodIPs:     []corev1.PodIP{{IP: address}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	if err := a.cluster.Client.Status().Update(ctx, pod); err != nil {
		return nil, a.failed("add a pod to", err)
	}
	return pod, a.WaitUntilSettled(ctx)
}

// RemovePod deletes a pod of RunPodAt at once and waits until it has left
// the slices.
func (a *App) RemovePod(ctx context.Context, pod *corev1.Pod) error {
	if err := a.cluster.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
		return a.failed("remove a pod from", err)
	}
	return a.WaitUntilSettled(ctx)
}

// manualNode returns the node for pods that kwok must not touch, and creates
// it at its first use. It is labelled as not for load balancers.
func (c *Cluster) manualNode(ctx context.Context) (string, error) {
	node := c.newNode(c.manualNodeName(), zones[0])
	node.Labels[corev1.LabelNodeExcludeBalancers] = "true"
	node.Spec.Taints = []corev1.Taint{{Key: "manual", Effect: corev1.TaintEffectNoSchedule}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	err := c.createNode(ctx, node)
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("cluster %s: %w", c.Name, err)
	}
	return node.Name, nil
}

func (c *Cluster) manualNodeName() string { return c.Name + "-manual" }
