package endpoints

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"target-ownership-controller/ownership"
)

// fromNodes collects the nodes fit for traffic.
func fromNodes(nodes []corev1.Node, nodePort int, held func(ownership.Target) bool) Want {
	want := Want{Targets: ownership.Set{}}
	for i := range nodes {
		node := &nodes[i]
		v := judge(node)
		if v.fitness == excluded {
			continue
		}
		var t ownership.Target
		if v.fitness != unfit {
			var err error
			if t, err = ownership.NewTarget(v.instance, nodePort); err != nil {
				v = verdict{fitness: unfit, reason: err.Error()}
			}
		}
		if v.fitness == fit || v.fitness == unready && held != nil && held(t) {
			want.Targets[t] = true
			continue
		}
		want.skip("node "+node.Name, v.reason)
	}
	want.sort()
	return want
}

type fitness int

const (
	excluded fitness = iota // the user keeps it out
	unfit                   // it cannot be a target, or is about to go
	unready                 // it stays if it is a target, and does not become one
	fit
)

// verdict is all of a node that decides whether it is wanted.
type verdict struct {
	fitness  fitness
	instance string
	reason   string
}

// judge says whether a node is fit for the traffic of a load balancer.
//
// Out are, as for the cloud provider's service controller, nodes with the
// exclusion label, nodes that are being deleted, nodes that an autoscaler is
// about to remove, and those without a provider ID. A node that is cordoned
// stays: that says something about new Pods, not about traffic.
//
// A node that is not ready is a question of its own. To take it out at once,
// as the AWS Load Balancer Controller does, empties the group when the nodes
// are fine and only the control plane cannot hear them. The service controller
// has stopped looking at readiness (KEP-3458,
// https://kep.k8s.io/3458): the load balancer's health check knows better
// whether a node serves. So here a node that is not ready stays if it is a
// target, and does not become one. It leaves when Kubernetes gives it up, by
// the NoExecute taint of the node lifecycle controller. That one is added at a
// limited rate, slower when many nodes of a zone are not ready, and taken
// back when none is left in the cluster
// (https://kubernetes.io/docs/concepts/architecture/nodes/#rate-limits-on-eviction).
func judge(node *corev1.Node) verdict {
	if isExcluded(node) {
		return verdict{fitness: excluded}
	}
	instance, problem := instanceID(node)
	if problem != "" {
		return verdict{fitness: unfit, reason: problem}
	}
	if node.DeletionTimestamp != nil {
		return verdict{fitness: unfit, reason: "it is being deleted"}
	}
	for _, taint := range node.Spec.Taints {
		if why := removal(taint); why != "" {
			return verdict{fitness: unfit, reason: why + " (taint " + taint.Key + ")"}
		}
	}
	if status := ready(node).Status; status != corev1.ConditionTrue {
		if status == "" {
			status = corev1.ConditionUnknown
		}
		return verdict{fitness: unready, instance: instance, reason: fmt.Sprintf("it is not ready (Ready is %s)", status)}
	}
	return verdict{fitness: fit, instance: instance}
}

// isExcluded reads the exclusion label as the service controller does: the
// value false does not exclude, every other one does
// (https://kubernetes.io/docs/reference/labels-annotations-taints/#node-kubernetes-io-exclude-from-external-load-balancers).
func isExcluded(node *corev1.Node) bool {
	label, ok := node.Labels[corev1.LabelNodeExcludeBalancers]
	if !ok {
		return false
	}
	exclude, err := strconv.ParseBool(label)
	return err != nil || exclude
}

// removal says why a taint means that the node is on its way out.
func removal(taint corev1.Taint) string {
	switch taint.Key {
	case "ToBeDeletedByClusterAutoscaler":
		return "the cluster autoscaler is removing it"
	case "karpenter.sh/disrupted":
		return "Karpenter is removing it"
	case "node.cloudprovider.kubernetes.io/shutdown":
		return "its instance is shut down"
	case corev1.TaintNodeOutOfService:
		return "it is out of service"
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
		if taint.Effect == corev1.TaintEffectNoExecute {
			return "Kubernetes has given it up"
		}
	}
	return ""
}

// instanceID reads the ID of an EC2 instance from aws:///ZONE/i-..., the
// provider ID that the AWS cloud provider sets. Longer paths are other things:
// Fargate has aws:///ZONE/TASK/fargate-ip-..., SageMaker HyperPod
// aws:///ZONE/sagemaker/CLUSTER/... .
func instanceID(node *corev1.Node) (id, problem string) {
	providerID := node.Spec.ProviderID
	path, isAWS := strings.CutPrefix(providerID, "aws:///")
	_, id, _ = strings.Cut(path, "/")
	switch {
	case node.Labels[labelComputeType] == "fargate", strings.HasPrefix(node.Name, "fargate-"):
		return "", "it is a Fargate node, which has no instance; use a target group of type ip for its Pods"
	case strings.HasPrefix(providerID, "eks-hybrid://"):
		return "", "it is a hybrid node, which is no EC2 instance; use a target group of type ip for its Pods"
	case providerID == "":
		return "", "it has no provider ID (yet)"
	case !isAWS || !strings.HasPrefix(id, "i-"):
		return "", fmt.Sprintf("its provider ID %s is not that of an EC2 instance", providerID)
	}
	return id, ""
}

// labelComputeType is set by EKS; nodes that are not EC2 instances have it
// (https://docs.aws.amazon.com/eks/latest/userguide/fargate.html).
const labelComputeType = "eks.amazonaws.com/compute-type"

func ready(node *corev1.Node) corev1.NodeCondition {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{}
}
