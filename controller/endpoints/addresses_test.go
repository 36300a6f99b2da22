package endpoints

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	discoveryv1 "k8s.io/api/discovery/v1"

	"target-ownership-controller/ownership"
)

var noon = time.Unix(1_800_000_000, 0)

// held is the target of the address in these tests.
const held ownership.Target = "10.0.0.5:8080"

// drained is a Pod that terminates and serves no more.
func drained(ep discoveryv1.Endpoint) discoveryv1.Endpoint {
	ep.Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(false), Terminating: new(true)}
	return ep
}

// holds20s is of a binding that holds the target and has terminating endpoints
// stay for 20 seconds.
func holds20s(since Since) Query {
	q := holding(held)
	q.Hold = Hold{For: 20 * time.Second, Since: since, Now: noon}
	return q
}

func TestWhatStaysOfTheEndpointsThatAreNotLive(t *testing.T) {
	half := func(there int) int { return (there + 1) / 2 }
	one := func(int) int { return 1 }
	unmarked := dying(pod("10.0.0.5", "1"))
	unmarked.Conditions.Serving = nil
	readyAgain := dying(pod("10.0.0.5", "1"))
	readyAgain.Conditions.Ready = new(true)
	noPod := dying(pod("10.0.0.5", "1"))
	noPod.TargetRef = nil
	for _, c := range []struct {
		name      string
		query     Query
		endpoints []discoveryv1.Endpoint
		stays     bool
		kept      bool // for the minimum
	}{
		{name: "no hold", query: holding(held), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}},
		{name: "terminating and serving", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}, stays: true},
		{name: "no Pod", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{noPod}, stays: true},
		{name: "not held", query: func() Query { q := holds20s(nil); q.Held = nil; return q }(), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}},
		{name: "serves no more", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{drained(pod("10.0.0.5", "1"))}},
		{name: "serving unset follows ready", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{unmarked}},
		{name: "publishNotReadyAddresses", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{readyAgain}, stays: true},
		{name: "not ready, and no minimum", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1"))}},
		{name: "gone", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{pod("10.0.0.9", "9")}},
		{name: "an earlier copy in another slice calls it ready", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{pod("10.0.0.5", "1"), dying(pod("10.0.0.5", "1"))}, stays: true},
		{name: "one copy says that it serves no more", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{drained(pod("10.0.0.5", "1")), dying(pod("10.0.0.5", "1"))}},
		{name: "the address has a new Pod that is not ready", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1")), notReady(pod("10.0.0.5", "2"))}},
		{name: "the address has a new Pod that is ready", query: holds20s(nil), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1")), pod("10.0.0.5", "2")}, stays: true},

		{name: "within the hold", query: holds20s(Since{{held, "1"}: noon.Add(-20*time.Second + 1)}), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}, stays: true},
		{name: "the hold is over", query: holds20s(Since{{held, "1"}: noon.Add(-20 * time.Second)}), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}},
		{name: "the hold of the last Pod is over", query: holds20s(Since{{held, "1"}: noon.Add(-time.Minute)}), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "2"))}, stays: true},

		{name: "the last one, with a minimum", query: atLeast(one, held), endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1"))}, stays: true, kept: true},
		{name: "with a minimum, and not held", query: atLeast(one), endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1"))}},
		{name: "enough are ready", query: atLeast(half, held), endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1")), pod("10.0.0.9", "9")}},
		{name: "too few are ready", query: atLeast(half, held), endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1")), pod("10.0.0.9", "9"), notReady(pod("10.0.0.8", "8"))}, stays: true, kept: true},
		{name: "those that terminate are none of those there", query: atLeast(half, held), endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1")), pod("10.0.0.9", "9"), dying(pod("10.0.0.8", "8"))}},
		{name: "the last one terminates", query: atLeast(one, held), endpoints: []discoveryv1.Endpoint{dying(pod("10.0.0.5", "1"))}},
		{name: "the last one has gone", query: atLeast(one, held)},
		{name: "one that is held for a while does not count as ready",
			query:     func() Query { q := atLeast(one, held, "10.0.0.8:8080"); q.Hold = holds20s(nil).Hold; return q }(),
			endpoints: []discoveryv1.Endpoint{notReady(pod("10.0.0.5", "1")), dying(pod("10.0.0.8", "8"))}, stays: true, kept: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			// One slice for each endpoint, so that an address can be in several.
			var all []discoveryv1.EndpointSlice
			for i, ep := range c.endpoints {
				all = append(all, slice(string(rune('a'+i)), 8080, ep))
			}
			want, err := choose(shop(), c.query, all...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(want.Targets[held]).To(Equal(c.stays))
			g.Expect(slices.Contains(want.Kept, held)).To(Equal(c.kept))
		})
	}
}

// A binding goes through the hold of two Pods: each leaves when its time has
// come, and none begins anew.
func TestAHoldOverTime(t *testing.T) {
	g := NewWithT(t)
	q := holding(held, "10.0.0.6:8080")
	q.Hold.For = 20 * time.Second
	first, second := pod("10.0.0.5", "1"), pod("10.0.0.6", "2")
	at := func(after time.Duration, endpoints ...discoveryv1.Endpoint) Want {
		t.Helper()
		q.Hold.Now = noon.Add(after)
		want, err := choose(shop(), q, slice("a", 8080, endpoints...))
		g.Expect(err).NotTo(HaveOccurred())
		q.Hold.Since = want.Since
		return want
	}
	want := at(0, dying(first), second)
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080", "10.0.0.6:8080"}))
	g.Expect(want.Until).To(Equal(noon.Add(20 * time.Second)))

	want = at(5*time.Second, dying(first), dying(second))
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080", "10.0.0.6:8080"}))
	g.Expect(want.Until).To(Equal(noon.Add(20*time.Second)), "the first of them ends first")

	want = at(20*time.Second, dying(first), dying(second))
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.6:8080"}))
	g.Expect(want.Until).To(Equal(noon.Add(25 * time.Second)))

	want = at(21*time.Second, dying(first), dying(second))
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.6:8080"}), "it terminates still, and its hold is not begun anew")

	want = at(22*time.Second, dying(first), drained(second))
	g.Expect(want.Targets).To(BeEmpty())
	g.Expect(want.Until.IsZero()).To(BeTrue())

	want = at(23 * time.Second)
	g.Expect(want.Since).To(BeEmpty(), "what has gone is forgotten")
}

// Case 26: the Pods of a node that shuts down are about to terminate, whatever
// their slice says yet.
func TestAHoldOnANodeThatShutsDown(t *testing.T) {
	down := node("node-1", goodID, notReadyBecause("container runtime is down, node is shutting down"))
	for _, c := range []struct {
		name  string
		pod   discoveryv1.Endpoint
		stays bool
	}{
		{"serves", pod("10.0.0.5", "1"), true},
		{"serves no more", notReady(pod("10.0.0.5", "1")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := slice("a", 8080, c.pod)
			q := ipQuery()
			q.Held, q.Hold = holds20s(nil).Held, holds20s(nil).Hold
			q.Minimum = func(int) int { return 1 }
			want, err := Resolver{Reader: reader(shop(), &s), Nodes: reader(&down)}.Want(t.Context(), q)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(want.Targets[held]).To(Equal(c.stays))
			g.Expect(want.Kept).To(BeEmpty(), "it is no endpoint that will get ready")
		})
	}
}
