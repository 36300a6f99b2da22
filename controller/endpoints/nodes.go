package endpoints

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"target-ownership-controller/ownership"
)

// nodes chooses among the nodes for targets of type instance.
type nodes struct {
	query    Query
	nodePort int
	local    *local // where the endpoints are; nil if that does not matter

	want  Want
	there ownership.Set // all that could be targets, were they ready
	spare []spareNode
}

// spareNode is one that is not wanted, and would do for the minimum.
type spareNode struct {
	ownership.Target
	name, reason string
}

// choose collects the nodes that are wanted, and has those stay that the
// minimum needs.
func (n *nodes) choose(all []corev1.Node) Want {
	n.want, n.there = newWant(), ownership.Set{}
	for i := range all {
		n.see(&all[i])
	}
	var targets []ownership.Target
	for _, s := range n.spare {
		targets = append(targets, s.Target)
	}
	n.want.keep(n.query.Minimum, len(n.there), len(n.want.Targets), targets)
	for _, s := range n.spare {
		if !slices.Contains(n.want.Kept, s.Target) {
			n.skip(s.name, s.reason)
		}
	}
	return n.want
}

func (n *nodes) see(node *corev1.Node) {
	v, t := n.judge(node)
	on := n.local.presence(node.Name)
	switch decide(v.fitness, on, n.query.holds(t)) {
	case in:
		n.want.Targets[t], n.there[t] = true, true
		return
	case spare:
		n.spare = append(n.spare, spareNode{t, node.Name, v.reason})
	default:
		if on != absent {
			n.skip(node.Name, v.reason)
		}
	}
	if v.fitness >= givenUp && on >= endpointUnready {
		n.there[t] = true
	}
}

// skip names a node that something is wrong with.
func (n *nodes) skip(name, reason string) {
	if reason != "" {
		n.want.skip("node "+name, reason)
	}
}

// judge also makes the target of a node that can be one.
func (n *nodes) judge(node *corev1.Node) (v verdict, t ownership.Target) {
	v = judge(node)
	if v.fitness < givenUp {
		return v, ""
	}
	t, err := ownership.NewTarget(v.instance, n.nodePort)
	if err != nil {
		return verdict{fitness: unfit, reason: err.Error()}, ""
	}
	return v, t
}

type fitness int

const (
	excluded fitness = iota // the user keeps it out
	unfit                   // it cannot be a target, or is about to go
	givenUp                 // Kubernetes has given it up
	unready
	fit
)

// decision is about one node.
type decision int

const (
	out   decision = iota
	spare          // out, unless the minimum needs it
	in
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
	for _, taint := range node.Spec.Taints {
		if gaveUp(taint) {
			return verdict{fitness: givenUp, instance: instance, reason: "Kubernetes has given it up (taint " + taint.Key + ")"}
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
	}
	return ""
}

// gaveUp reports whether a taint means that Kubernetes evicts from the node,
// since it is not ready or cannot be heard.
func gaveUp(taint corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoExecute &&
		(taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable)
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
