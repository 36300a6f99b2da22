package binding

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/intstr"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

// outage has bindings of these names wait because the table throttles.
func (s *site) outage(names ...string) {
	s.t.Helper()
	for i, name := range names {
		s.runs(name, pods(i, 1)...)
		s.binds(name)
	}
	s.fails(dynamoDBSays("ThrottlingException"), "Query", "PutItem")
	for range 10 { // the back-off of each is long by now
		for _, name := range names {
			s.reconciles(name)
			s.expectReason(name, v1beta1.ReasonThrottled)
		}
	}
}

func (s *site) woken() []string {
	var names []string
	for len(s.Wakes()) > 0 {
		names = append(names, (<-s.Wakes()).Object.Name)
	}
	return names
}

func TestCase17OneBindingIsTriedForAll(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.outage("a", "b", "c", "d")
	w.Expect(east.reconciles("a").RequeueAfter).To(BeNumerically("<=", 2*time.Second))
	w.Expect(east.reconciles("b").RequeueAfter).To(BeNumerically(">", 10*time.Second))
	w.Expect(east.woken()).To(BeEmpty())

	east.calm()
	east.reconciles("a")
	w.Expect(east.woken()).To(Equal([]string{"c", "d"}), "b was tried last")
	east.reconciles("c")
	w.Expect(east.woken()).To(Equal([]string{"b"}), "d is awake already")
	east.reconciles("b")
	w.Expect(east.woken()).To(BeEmpty())
	east.reconciles("c", "d")
	w.Expect(east.woken()).To(BeEmpty())
}

// One that was woken in vain goes on being tried for all.
func TestCase17AWakeUpInVain(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.outage("a", "b", "c")
	east.calm()
	east.reconciles("a")
	w.Expect(east.woken()).To(Equal([]string{"b", "c"}))
	east.fails(dynamoDBSays("ThrottlingException"), "Query", "PutItem")
	w.Expect(east.reconciles("b").RequeueAfter).To(BeNumerically("<=", 2*time.Second))
	w.Expect(east.reconciles("c").RequeueAfter).To(BeNumerically(">", 10*time.Second))
	east.calm()
	east.reconciles("b")
	w.Expect(east.woken()).To(Equal([]string{"c"}))
}

// The one that is tried has a trouble of its own by now, which its retries
// leave alone for minutes: the next one is tried.
func TestCase17ABindingWithATroubleOfItsOwnIsNotTriedForOthers(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.outage("a", "b")
	east.edits("a", toPort(intstr.FromString("none")))
	east.reconciles("a")
	east.expectReason("a", v1beta1.ReasonPortNotFound)
	w.Expect(east.woken()).To(Equal([]string{"b"}))
	east.fails(dynamoDBSays("ThrottlingException"), "Query", "PutItem")
	w.Expect(east.reconciles("b").RequeueAfter).To(BeNumerically("<=", 2*time.Second))
}

// sharesAnAddress returns a cluster that can let 10.0.0.1 go without a call to
// the load balancer: another one holds it too.
func (w *world) sharesAnAddress() *site {
	w.t.Helper()
	east, west := w.cluster("east"), w.cluster("west")
	west.runs("web", "10.0.0.1")
	west.binds("web")
	west.reconciles("web")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.settles("web")
	return east
}

// A pass that needs the table alone shows as well that it serves.
func TestCase17APassThatOnlyUsedTheTableWakesOthers(t *testing.T) {
	w := newWorld(t)
	east := w.sharesAnAddress()
	east.outage("a")
	east.calm()
	east.forget()
	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	w.Expect(east.count()).NotTo(Or(HaveKey("DeregisterTargets"), HaveKey("RegisterTargets"), HaveKey("DescribeTargetHealth")))
	w.Expect(east.woken()).To(Equal([]string{"a"}))
}

// That the table serves says nothing about the load balancer.
func TestCase17APassThatOnlyUsedTheTableLeavesThoseThatWaitForTheLoadBalancer(t *testing.T) {
	w := newWorld(t)
	east := w.sharesAnAddress()
	w.elbSays(elbsim.Throttled(), "RegisterTargets")
	east.runs("a", "10.0.1.1")
	east.binds("a")
	east.reconciles("a")
	east.expectReason("a", v1beta1.ReasonThrottled)

	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	w.Expect(east.woken()).To(BeEmpty())

	w.sim.ClearRules()
	east.scales("web", "10.0.0.2", "10.0.0.3")
	east.reconciles("web")
	w.Expect(east.woken()).To(Equal([]string{"a"}))
}

// A full group is what a person hears of first. The removals of the same pass
// wait for the end of the throttling all the same.
func TestCase17ThrottlingCountsBesideATroubleOfItsOwn(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.runs("other", "10.1.0.1")
	east.binds("other")
	w.Expect(w.sim.ConfigureGroup(w.group.ARN, func(s *elbsim.Settings) { s.Quota = 1 })).To(Succeed())
	w.elbSays(elbsim.Throttled(), "DeregisterTargets")
	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	east.expectReason("web", v1beta1.ReasonGroupFull)
	w.sim.ClearRules()
	w.Expect(w.sim.ConfigureGroup(w.group.ARN, func(s *elbsim.Settings) { s.Quota = 9 })).To(Succeed())
	east.reconciles("other")
	w.Expect(east.woken()).To(Equal([]string{"web"}))
}

// Two that fail for themselves do not get every wake-up.
func TestCase17WakeUpsGoRound(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.outage("a", "b", "c")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.calm()
	east.reconciles("web")
	w.Expect(east.woken()).To(Equal([]string{"a", "b"}))
	east.fails(dynamoDBSays("ThrottlingException"), "Query", "PutItem")
	east.reconciles("a", "b")
	east.calm()
	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	w.Expect(east.woken()).To(Equal([]string{"c", "a"}))
}
