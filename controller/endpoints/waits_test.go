package endpoints

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"target-ownership-controller/ownership"
)

// A Pod that lacks nothing but to be a target has to become one, since its
// slice calls it ready no sooner.
func TestPodsThatWaitForTheirTargets(t *testing.T) {
	noPod := notReady(pod("10.0.0.5", "1"))
	noPod.TargetRef = nil
	node := notReady(pod("10.0.0.5", "1"))
	node.TargetRef = &corev1.ObjectReference{Kind: "Node", Name: "pod-1", UID: "1"}
	only, both := Waits{Only: true}, Waits{Only: true, Ask: true}
	always := func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true }
	for name, c := range map[string]struct {
		waits    Waits
		service  *corev1.Service
		endpoint discoveryv1.Endpoint
		wanted   bool
		asked    bool
	}{
		"does not wait":                       {Waits{}, shop(), notReady(pod("10.0.0.5", "1")), false, false},
		"lacks its target only":               {both, shop(), notReady(pod("10.0.0.5", "1")), true, true},
		"lacks something else too":            {Waits{Ask: true}, shop(), notReady(pod("10.0.0.5", "1")), false, false},
		"has its target, the slice is behind": {only, shop(), notReady(pod("10.0.0.5", "1")), true, false},
		"ready already":                       {both, shop(), pod("10.0.0.5", "1"), true, false},
		"published although not ready":        {both, shop(always), pod("10.0.0.5", "1"), true, true},
		"published, containers not ready":     {Waits{Ask: true}, shop(always), pod("10.0.0.5", "1"), true, true},
		"terminating":                         {both, shop(), dying(pod("10.0.0.5", "1")), false, false},
		"no pod":                              {both, shop(), noPod, false, false},
		"no pod, but something of its name":   {both, shop(), node, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			list := slice("a", 8080, c.endpoint)
			q := ipQuery()
			q.Waits = func(ref *corev1.ObjectReference) Waits {
				g.Expect(*ref).To(Equal(*c.endpoint.TargetRef))
				return c.waits
			}
			want, err := Resolver{Reader: reader(c.service, &list)}.Want(t.Context(), q)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(want.Targets[held]).To(Equal(c.wanted))
			wait := Waiting{}
			if c.asked {
				wait["1"] = held
			}
			g.Expect(want.Waiting).To(Equal(wait))
			g.Expect(want.Targets).To(HaveLen(map[bool]int{true: 1}[c.wanted]))
		})
	}
}

// The address of a Pod that has terminated is its next Pod's.
func TestTheTargetOfAPodThatWaitsIsItsOwn(t *testing.T) {
	g := NewWithT(t)
	list := slice("a", 8080, dying(pod("10.0.0.5", "1")), notReady(pod("10.0.0.5", "2")))
	q := ipQuery()
	q.Waits = func(*corev1.ObjectReference) Waits { return Waits{Only: true, Ask: true} }
	want, err := Resolver{Reader: reader(shop(), &list)}.Want(t.Context(), q)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(want.Targets).To(Equal(ownership.Set{held: true}))
	g.Expect(want.Waiting).To(Equal(Waiting{"2": held}))
}
