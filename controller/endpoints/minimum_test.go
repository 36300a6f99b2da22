package endpoints

import (
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"target-ownership-controller/ownership"
)

// atLeast is of a binding with a minimum that holds these targets.
func atLeast(minimum func(int) int, targets ...ownership.Target) Query {
	q := holding(targets...)
	q.Minimum = minimum
	return q
}

func exactly(n int) func(int) int { return func(int) int { return n } }

// Everything turns not ready at once: as many stay as the minimum says, always
// the same ones, until others are ready in their place.
func TestAMinimumStays(t *testing.T) {
	g := NewWithT(t)
	held := ownership.Set{"10.0.0.1:8080": true, "10.0.0.2:8080": true, "10.0.0.3:8080": true, "10.0.0.4:8080": true}
	q := Query{Held: func(t ownership.Target) bool { return held[t] }, Minimum: exactly(2)}
	at := func(state string) []string {
		t.Helper()
		var all []discoveryv1.Endpoint
		for i, ready := range state {
			ep := pod("10.0.0."+string(rune('1'+i)), string(rune('1'+i)))
			if ready != 'r' {
				ep = notReady(ep)
			}
			all = append(all, ep)
		}
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		want, err := choose(shop(), q, slice("a", 8080, all...))
		g.Expect(err).NotTo(HaveOccurred())
		held = want.Targets
		return names(want.Targets)
	}
	for _, step := range []struct {
		state string // of each endpoint: ready or not
		want  []string
	}{
		{"rrrr", []string{"10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080", "10.0.0.4:8080"}},
		{"----", []string{"10.0.0.1:8080", "10.0.0.2:8080"}},
		{"----", []string{"10.0.0.1:8080", "10.0.0.2:8080"}},
		{"---r", []string{"10.0.0.1:8080", "10.0.0.4:8080"}},
		{"r--r", []string{"10.0.0.1:8080", "10.0.0.4:8080"}},
		{"--rr", []string{"10.0.0.3:8080", "10.0.0.4:8080"}},
		{"---r", []string{"10.0.0.3:8080", "10.0.0.4:8080"}},
		{"r---", []string{"10.0.0.1:8080", "10.0.0.3:8080"}},
		{"r", []string{"10.0.0.1:8080"}},
		{"-", []string{"10.0.0.1:8080"}},
		{"", []string{}},
		{"----", []string{}},
	} {
		g.Expect(at(step.state)).To(Equal(step.want), "when they are %s", step.state)
	}
}

// Nodes that Kubernetes has given up stay for the minimum. Those that go do not.
func TestAMinimumOfNodes(t *testing.T) {
	lost := []func(*corev1.Node){setReady(corev1.ConditionUnknown), taint(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)}
	with := func(edits ...func(*corev1.Node)) []func(*corev1.Node) { return append(edits, lost...) }
	const a, b = "i-0aaa:30080", "i-0bbb:30080"
	other := func(edits ...func(*corev1.Node)) corev1.Node { return node("b", "aws:///eu-west-1b/i-0bbb", edits...) }
	for _, c := range []struct {
		name    string
		nodes   []corev1.Node
		minimum func(int) int
		want    []string
		skipped []string
	}{
		{"all given up", []corev1.Node{node("a", goodID, lost...), other(lost...)}, exactly(1), []string{a}, []string{"node b"}},
		{"all are needed", []corev1.Node{node("a", goodID, lost...), other(lost...)}, exactly(3), []string{a, b}, nil},
		{"one is ready", []corev1.Node{node("a", goodID, lost...), other()}, exactly(1), []string{b}, []string{"node a"}},
		{"one is not ready, and stays in any case", []corev1.Node{node("a", goodID, lost...), other(setReady(corev1.ConditionUnknown))}, exactly(1), []string{b}, []string{"node a"}},
		{"all that are there are counted", []corev1.Node{node("a", goodID, lost...), other()}, func(there int) int { return there }, []string{a, b}, nil},
		{"no minimum", []corev1.Node{node("a", goodID, lost...)}, nil, []string{}, []string{"node a"}},

		{"deleted", []corev1.Node{node("a", goodID, with(deleted)...)}, exactly(1), []string{}, []string{"node a"}},
		{"excluded", []corev1.Node{node("a", goodID, with(label(corev1.LabelNodeExcludeBalancers, ""))...)}, exactly(1), []string{}, nil},
		{"an autoscaler removes it", []corev1.Node{node("a", goodID, append(lost, taint("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule))...)}, exactly(1), []string{}, []string{"node a"}},
		{"out of service", []corev1.Node{node("a", goodID, with(taint(corev1.TaintNodeOutOfService, corev1.TaintEffectNoExecute))...)}, exactly(1), []string{}, []string{"node a"}},
		{"gone", nil, exactly(1), []string{}, nil},
		{"two nodes of one instance", []corev1.Node{node("a", goodID, lost...), node("again", goodID)}, exactly(2), []string{a}, []string{"node a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			want := nodesOf(atLeast(c.minimum, a, b), c.nodes...)
			g.Expect(names(want.Targets)).To(Equal(c.want))
			var skipped []string
			for _, s := range want.Skipped {
				skipped = append(skipped, s.Name)
			}
			g.Expect(skipped).To(Equal(c.skipped))

			g.Expect(nodesOf(atLeast(c.minimum), c.nodes...).Kept).To(BeEmpty(), "what is not held is not brought in")
		})
	}
}
