package endpoints

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/ownership"
)

const (
	goodID     = "aws:///eu-west-1a/i-0aaa"
	goodTarget = "i-0aaa:30080"
)

// nodesOf is the choice among nodes where endpoints do not matter.
func nodesOf(q Query, all ...corev1.Node) Want {
	n := nodes{query: q, nodePort: 30080}
	want := n.choose(all)
	want.sort()
	return want
}

// holding is of a binding that holds these targets.
func holding(targets ...ownership.Target) Query {
	return Query{Held: func(t ownership.Target) bool { return slices.Contains(targets, t) }}
}

func deleted(n *corev1.Node) {
	n.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_800_000_000, 0)}
}

func cordoned(n *corev1.Node) {
	n.Spec.Unschedulable = true
	taint(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)(n)
}

func TestNodeFitForTraffic(t *testing.T) {
	for _, c := range []struct {
		name string
		node corev1.Node
		held bool
		fits bool
		why  string // empty: nothing is said about it
	}{
		{name: "ready", node: node("n", goodID), fits: true},
		{name: "no zone in the provider ID", node: node("n", "aws:////i-0aaa"), fits: true},
		{name: "cordoned", node: node("n", goodID, cordoned), fits: true},
		{name: "under pressure", node: node("n", goodID, taint(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)), fits: true},
		{name: "a taint of the user", node: node("n", goodID, taint("dedicated", corev1.TaintEffectNoExecute)), fits: true},

		{name: "excluded", node: node("n", goodID, label(corev1.LabelNodeExcludeBalancers, ""))},
		{name: "excluded in words", node: node("n", goodID, label(corev1.LabelNodeExcludeBalancers, "true"))},
		{name: "expressly not excluded", node: node("n", goodID, label(corev1.LabelNodeExcludeBalancers, "false")), fits: true},
		{name: "excluded and held", node: node("n", goodID, label(corev1.LabelNodeExcludeBalancers, "")), held: true},

		{name: "not ready", node: node("n", goodID, setReady(corev1.ConditionFalse)), why: "it is not ready (Ready is False)"},
		{name: "not heard of", node: node("n", goodID, setReady(corev1.ConditionUnknown)), why: "it is not ready (Ready is Unknown)"},
		{name: "new, without conditions", node: corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: goodID}}, why: "it is not ready (Ready is Unknown)"},
		{name: "not ready and held", node: node("n", goodID, setReady(corev1.ConditionFalse)), held: true, fits: true},
		{name: "not heard of and held", node: node("n", goodID, setReady(corev1.ConditionUnknown), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoSchedule)), held: true, fits: true},

		{name: "case 24: dead", held: true,
			node: node("n", goodID, setReady(corev1.ConditionUnknown), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)),
			why:  "Kubernetes has given it up (taint node.kubernetes.io/unreachable)"},
		{name: "case 24: not ready for good", held: true,
			node: node("n", goodID, setReady(corev1.ConditionFalse), taint(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)),
			why:  "Kubernetes has given it up (taint node.kubernetes.io/not-ready)"},
		{name: "case 24: deleted", node: node("n", goodID, deleted), held: true, why: "it is being deleted"},
		{name: "case 24: no provider ID", node: node("n", ""), why: "it has no provider ID (yet)"},
		{name: "case 24: Fargate", node: node("fargate-ip-10-0-0-9.eu-west-1.compute.internal", "aws:///eu-west-1a/0123-4567/fargate-ip-10-0-0-9"), why: "it is a Fargate node, which has no instance; use a target group of type ip for its Pods"},
		{name: "case 24: Fargate by label", node: node("n", "", label("eks.amazonaws.com/compute-type", "fargate")), why: "it is a Fargate node, which has no instance; use a target group of type ip for its Pods"},
		{name: "case 24: hybrid", node: node("n", "eks-hybrid:///eu-west-1/prod/mi-0abc"), why: "it is a hybrid node, which is no EC2 instance; use a target group of type ip for its Pods"},
		{name: "another cloud", node: node("n", "gce://project/zone/vm"), why: "its provider ID gce://project/zone/vm is not that of an EC2 instance"},
		{name: "no scheme", node: node("n", "eu-west-1a/i-0aaa"), why: "its provider ID eu-west-1a/i-0aaa is not that of an EC2 instance"},
		{name: "SageMaker", node: node("n", "aws:///use1-az1/sagemaker/cluster/i-0aaa"), why: "its provider ID aws:///use1-az1/sagemaker/cluster/i-0aaa is not that of an EC2 instance"},
		{name: "an ID that is none", node: node("n", "aws:///eu-west-1a/i-xyz"), why: `target "i-xyz": neither an IP address nor an instance ID such as i-0abc`},

		{name: "removed by the cluster autoscaler", held: true,
			node: node("n", goodID, taint("ToBeDeletedByClusterAutoscaler", corev1.TaintEffectNoSchedule)),
			why:  "the cluster autoscaler is removing it (taint ToBeDeletedByClusterAutoscaler)"},
		{name: "a candidate for removal only", node: node("n", goodID, taint("DeletionCandidateOfClusterAutoscaler", corev1.TaintEffectPreferNoSchedule)), fits: true},
		{name: "removed by Karpenter", node: node("n", goodID, taint("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule)), why: "Karpenter is removing it (taint karpenter.sh/disrupted)"},
		{name: "stopped", node: node("n", goodID, taint("node.cloudprovider.kubernetes.io/shutdown", corev1.TaintEffectNoSchedule)), why: "its instance is shut down (taint node.cloudprovider.kubernetes.io/shutdown)"},
		{name: "out of service", node: node("n", goodID, taint(corev1.TaintNodeOutOfService, corev1.TaintEffectNoExecute)), why: "it is out of service (taint node.kubernetes.io/out-of-service)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			want := nodesOf(Query{Held: func(ownership.Target) bool { return c.held }}, c.node)
			if c.fits {
				g.Expect(names(want.Targets)).To(Equal([]string{goodTarget}))
				g.Expect(want.Skipped).To(BeEmpty())
				return
			}
			g.Expect(want.Targets).To(BeEmpty())
			if c.why == "" {
				g.Expect(want.Skipped).To(BeEmpty())
				return
			}
			g.Expect(want.Skipped).To(Equal([]Skipped{{"node " + c.node.Name, c.why}}))
		})
	}
}

// Case 24: the good nodes are wanted whatever else there is, and each of the
// others is named once, in order.
func TestBadNodesAmongGoodOnes(t *testing.T) {
	g := NewWithT(t)
	want := nodesOf(Query{},
		node("z-new", ""),
		node("good-1", "aws:///eu-west-1a/i-0aaa"),
		node("dead", "aws:///eu-west-1a/i-0ddd", setReady(corev1.ConditionUnknown), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)),
		node("hybrid", "eks-hybrid:///eu-west-1/prod/mi-0abc"),
		node("good-2", "aws:///eu-west-1b/i-0bbb"),
		node("fargate-ip-10-0-0-9", "aws:///eu-west-1a/0123/fargate-ip-10-0-0-9"),
	)

	g.Expect(names(want.Targets)).To(Equal([]string{"i-0aaa:30080", "i-0bbb:30080"}))
	var skipped []string
	for _, s := range want.Skipped {
		skipped = append(skipped, s.Name)
	}
	g.Expect(skipped).To(Equal([]string{"node dead", "node fargate-ip-10-0-0-9", "node hybrid", "node z-new"}))
}

// The control plane loses sight of every node: the group stays as it is.
func TestNodesOutOfSightStay(t *testing.T) {
	g := NewWithT(t)
	unseen := []func(*corev1.Node){setReady(corev1.ConditionUnknown), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoSchedule)}
	want := nodesOf(holding("i-0aaa:30080", "i-0bbb:30080"),
		node("a", "aws:///eu-west-1a/i-0aaa", unseen...),
		node("b", "aws:///eu-west-1b/i-0bbb", unseen...),
		node("never-registered", "aws:///eu-west-1b/i-0ccc", unseen...),
	)
	g.Expect(names(want.Targets)).To(Equal([]string{"i-0aaa:30080", "i-0bbb:30080"}))
}
