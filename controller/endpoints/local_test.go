package endpoints

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"target-ownership-controller/ownership"
)

func localPolicy(s *corev1.Service) {
	s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
}

func noNode(ep discoveryv1.Endpoint) discoveryv1.Endpoint {
	ep.NodeName = nil
	return ep
}

func onNode(name string, ep discoveryv1.Endpoint) discoveryv1.Endpoint {
	ep.NodeName = &name
	return ep
}

// The table of docs/policies.md.
func TestNodesWithEndpoints(t *testing.T) {
	ready := node("node-1", goodID)
	unready := node("node-1", goodID, setReady(corev1.ConditionUnknown))
	givenUp := node("node-1", goodID, setReady(corev1.ConditionUnknown), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute))
	going := node("node-1", goodID, taint("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule))
	excluded := node("node-1", goodID, label(corev1.LabelNodeExcludeBalancers, ""))

	serves := []discoveryv1.Endpoint{notReady(pod("10.0.0.4", "0")), pod("10.0.0.5", "1")}
	first := []discoveryv1.Endpoint{pod("10.0.0.5", "1"), notReady(pod("10.0.0.4", "0"))}
	idle := []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1")), dying(pod("10.0.0.6", "2"))}
	somewhere := []discoveryv1.Endpoint{noNode(pod("10.0.0.5", "1"))}
	ending := []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}
	elsewhere := []discoveryv1.Endpoint{onNode("node-2", pod("10.0.0.5", "1")), noNode(notReady(pod("10.0.0.6", "2")))}

	const never, always, ifHeld, forMinimum = "never", "always", "if held", "for the minimum"
	for _, c := range []struct {
		name      string
		node      corev1.Node
		endpoints []discoveryv1.Endpoint
		stays     string
	}{
		{"ready, ready", ready, serves, always},
		{"ready, ready before not ready", ready, first, always},
		{"ready, not ready", ready, idle, forMinimum},
		{"ready, somewhere", ready, somewhere, ifHeld},
		{"ready, terminating", ready, ending, never},
		{"ready, elsewhere", ready, elsewhere, never},
		{"ready, none", ready, nil, never},

		{"not ready, ready", unready, serves, ifHeld},
		{"not ready, not ready", unready, idle, ifHeld},
		{"not ready, somewhere", unready, somewhere, ifHeld},
		{"not ready, terminating", unready, ending, never},
		{"not ready, elsewhere", unready, elsewhere, never},

		{"given up, ready", givenUp, serves, forMinimum},
		{"given up, not ready", givenUp, idle, forMinimum},
		{"given up, somewhere", givenUp, somewhere, forMinimum},
		{"given up, terminating", givenUp, ending, never},
		{"given up, elsewhere", givenUp, elsewhere, never},

		{"about to go, ready", going, serves, never},
		{"excluded, ready", excluded, serves, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := slice("a", 8080, c.endpoints...)
			r := reader(shop(localPolicy), &s, &c.node)
			stays := func(minimum int, held ...ownership.Target) bool {
				q := instanceQuery()
				q.Held, q.Minimum = holding(held...).Held, exactly(minimum)
				return resolve(t, r, q).Targets[goodTarget]
			}
			g.Expect(stays(0)).To(Equal(c.stays == always), "not held")
			g.Expect(stays(0, goodTarget)).To(Equal(c.stays == always || c.stays == ifHeld), "held")
			g.Expect(stays(1, goodTarget)).To(Equal(c.stays != never), "held, with a minimum")
			g.Expect(stays(1)).To(Equal(c.stays == always), "not held, with a minimum")
		})
	}
}

func TestWhetherEndpointsMatter(t *testing.T) {
	for _, c := range []struct {
		name    string
		service *corev1.Service
		policy  NodePolicy
		want    []string
	}{
		{"Cluster", shop(), NodesByService, []string{"i-0aaa:30080", "i-0bbb:30080"}},
		{"Local", shop(localPolicy), NodesByService, []string{"i-0aaa:30080"}},
		{"Local, all nodes asked for", shop(localPolicy), NodesAll, []string{"i-0aaa:30080", "i-0bbb:30080"}},
		{"Cluster, local nodes asked for", shop(), NodesLocal, []string{"i-0aaa:30080"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			with, without := node("node-1", goodID), node("node-2", "aws:///eu-west-1b/i-0bbb")
			s := slice("a", 8080, pod("10.0.0.5", "1"))
			q := instanceQuery()
			q.Nodes = c.policy
			want := resolve(t, reader(c.service, &s, &with, &without), q)
			g.Expect(names(want.Targets)).To(Equal(c.want))
			g.Expect(want.Skipped).To(BeEmpty(), "a node without endpoints is nothing special")
		})
	}
}

// An endpoint whose node nobody knows is named: no node is registered for it.
func TestAnEndpointThatNamesNoNode(t *testing.T) {
	g := NewWithT(t)
	n, s := node("node-1", goodID), slice("a", 8080, noNode(pod("10.0.0.5", "1")))
	want := resolve(t, reader(shop(localPolicy), &s, &n), instanceQuery())
	g.Expect(want.Targets).To(BeEmpty())
	g.Expect(want.Skipped).To(Equal([]Skipped{{"endpoint 10.0.0.5", "its slice names no node, so that no node is registered for it and none leaves; correct the slice, or have all nodes registered"}}))
}

// Nodes of no use are named where they have an endpoint, and not for every
// Service that does not run there.
func TestNodesThatCannotBeTargetsAreNamedForTheirEndpoints(t *testing.T) {
	g := NewWithT(t)
	here, elsewhere := node("node-1", ""), node("node-2", "")
	s := slice("a", 8080, pod("10.0.0.5", "1"))
	want := resolve(t, reader(shop(localPolicy), &s, &here, &elsewhere), instanceQuery())
	g.Expect(want.Skipped).To(Equal([]Skipped{{"node node-1", "it has no provider ID (yet)"}}))
}

// Case 26: a node that shuts down leaves with its Pods.
func TestANodeThatShutsDownLeaves(t *testing.T) {
	g := NewWithT(t)
	down := node("node-1", goodID, notReadyBecause("container runtime is down, node is shutting down"))
	s := slice("a", 8080, pod("10.0.0.5", "1"))
	q := instanceQuery()
	q.Held = holding(goodTarget).Held
	want, err := Resolver{Reader: reader(shop(localPolicy), &s, &down), Nodes: reader(&down)}.Want(t.Context(), q)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(want.Targets).To(BeEmpty())
}

// Case 4: what cannot be told of the endpoints cannot be told of the nodes.
func TestEndpointsOfNodesThatAreUnknown(t *testing.T) {
	failure := errors.New("reset")
	renamed := shop(localPolicy, func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromInt32(9090) })
	for _, c := range []struct {
		name    string
		service *corev1.Service
		funcs   interceptor.Funcs
		message string
	}{
		{"a listing that fails", shop(localPolicy), interceptor.Funcs{List: failList[*discoveryv1.EndpointSliceList](failure)}, "list its endpoint slices: reset"},
		{"a slice that is behind", renamed, interceptor.Funcs{}, "endpoint slice a is behind the service"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			n, s := node("node-1", goodID), slice("a", 8080, pod("10.0.0.5", "1"))
			want, err := Resolver{Reader: interceptor.NewClient(reader(c.service, &s, &n), c.funcs)}.Want(t.Context(), instanceQuery())
			unknown := new(UnknownError)
			g.Expect(errors.As(err, &unknown)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring(c.message)))
			g.Expect(want).To(BeZero())
		})
	}
}
