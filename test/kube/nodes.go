package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kwokNodeLabel marks the nodes that kwok plays the kubelet of.
const kwokNodeLabel = "kwok.x-k8s.io/managed"

var zones = []string{"us-west-2a", "us-west-2b", "us-west-2c"}

// createNodes creates nodes like those of EC2: zone labels in turn, a
// provider ID, an internal address. kwok makes them Ready once it runs.
func (c *Cluster) createNodes(ctx context.Context) error {
	for i := range c.options.Nodes {
		node := c.newNode(fmt.Sprintf("%s-node-%d", c.Name, i+1), zones[i%len(zones)])
		node.Labels[kwokNodeLabel] = "true"
		if err := c.createNode(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) newNode(name, zone string) *corev1.Node {
	// Instance IDs and addresses follow from the name, so that they differ
	// between clusters and stay the same between runs.
	sum := sha256.Sum256([]byte(name))
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("5000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:       name,
				corev1.LabelOSStable:       "linux",
				corev1.LabelArchStable:     "amd64",
				corev1.LabelTopologyRegion: zone[:len(zone)-1],
				corev1.LabelTopologyZone:   zone,
			},
		},
		Spec: corev1.NodeSpec{
			ProviderID: fmt.Sprintf("aws:///%s/i-%s", zone, hex.EncodeToString(sum[:])[:17]),
		},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.255.%d.%d", sum[0], sum[1])},
				{Type: corev1.NodeHostName, Address: name},
			},
		},
	}
}

func (c *Cluster) createNode(ctx context.Context, node *corev1.Node) error {
	status := node.Status
	if err := c.Client.Create(ctx, node); err != nil {
		return fmt.Errorf("create node %s: %w", node.Name, err)
	}
	node.Status = status
	if err := c.Client.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("write status of node %s: %w", node.Name, err)
	}
	return nil
}

func (c *Cluster) waitForNodes(ctx context.Context) error {
	nodes := &corev1.NodeList{}
	return c.Until(ctx, nodes, func(ctx context.Context) (bool, string, error) {
		if err := c.Client.List(ctx, nodes); err != nil {
			return false, "", err
		}
		ready := 0
		for _, node := range nodes.Items {
			if nodeReady(&node) {
				ready++
			}
		}
		return ready == c.options.Nodes, fmt.Sprintf("%d of %d nodes are Ready", ready, c.options.Nodes), nil
	})
}

func nodeReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
