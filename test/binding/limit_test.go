package binding

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
)

func (s *site) held(name string) []string {
	s.t.Helper()
	return keys(s.records()[s.owner(name)].Held)
}

// Of those that come in, the ones that are in the group already come first.
func TestAMaximumPrefersWhatIsRegistered(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	there := at8080(pods(1, 10)[3], pods(1, 10)[5], pods(1, 10)[6], pods(1, 10)[8])
	w.somebodyRegisters(there...)
	east.runs("web", pods(1, 10)...)
	east.binds("web", policies("maximum", "4"))
	east.reconcilesLater("web")
	w.Expect(east.held("web")).To(ConsistOf(there))
	w.expectGroup(there...)
}

func TestAMaximumOfTargets(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	trail := east.keepsHistory()
	east.runs("web", pods(1, 6)...)
	east.binds("web", policies("maximum", "4"))
	east.reconcilesLater("web")
	first := east.held("web")
	w.Expect(first).To(HaveLen(4))
	w.expectGroup(first...)
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonLimited, "4 of 4 targets registered", "2 of 6 endpoints left out", v1beta1.MaximumAnnotation+" is 4")
	east.expectCounts("web", v1beta1.TargetCounts{Held: 4})
	east.expectEvents()

	// Nothing that is in the group is exchanged, also not by another process.
	east.scales("web", slices.Concat(pods(1, 6), pods(2, 30))...)
	east.reconcilesLater("web")
	east.restarts()
	east.settles("web")
	w.expectGroup(first...)

	// One that ends makes room for one.
	remaining := slices.DeleteFunc(slices.Concat(pods(1, 6), pods(2, 30)), func(address string) bool { return at8080(address)[0] == first[0] })
	east.scales("web", remaining...)
	east.reconcilesLater("web")
	w.Expect(east.held("web")).To(And(HaveLen(4), ContainElements(first[1:]), Not(ContainElement(first[0]))))
	w.expectGroup(east.held("web")...)

	// A smaller one takes some out, which needs no reading around the caches.
	before := east.held("web")
	east.forget()
	east.edits("web", policies("maximum", "1"))
	trail.Flush(t.Context())
	told := len(w.history())
	east.Journal = trail
	east.reconcilesLater("web")
	w.Expect(east.count()).NotTo(HaveKey("live LIST endpointslices"))
	w.Expect(east.held("web")).To(HaveLen(1))
	w.Expect(before).To(ContainElements(east.held("web")))
	w.expectGroup(east.held("web")...)
	w.Expect(w.history(trail)[told+1]).To(And(HavePrefix("  releasing ["), HaveSuffix("]: "+v1beta1.MaximumAnnotation+" is 1")))

	east.edits("web", policies())
	east.settles("web")
	w.expectGroup(at8080(remaining...)...)
	east.expectReconciled("web")
}

// Endpoints that are gone are confirmed as ever, whatever the maximum.
func TestAMaximumHidesNoLargeRemoval(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", pods(1, 6)...)
	east.binds("web", policies("maximum", "4"))
	east.reconciles("web")
	east.fails(emptyList("discovery.k8s.io/v1", "EndpointSliceList"), "cached LIST endpointslices")
	east.reconciles("web")
	w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(4))
	east.expectRemovals(0)
	w.Expect(east.count()).To(HaveKeyWithValue("live LIST endpointslices", 1))
}

func TestAnUnknownPolicyStopsTheBinding(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", policies("maximun", "4"))
	east.settles("web")
	w.expectGroup()
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonInvalidSpec, "there is no annotation "+v1beta1.AnnotationPrefix+"maximun", "the nearest is "+v1beta1.MaximumAnnotation)
	east.edits("web", policies("maximum", "4"))
	east.settles("web")
	w.expectGroup("10.0.0.1:8080")
}

// A blue and a green cluster: traffic moves from one to the other by their
// shares of the group, and no step leaves the group with less than ten.
func TestASharedGroupShiftsFromBlueToGreen(t *testing.T) {
	w := newWorld(t)
	blue, green := w.cluster("blue"), w.cluster("green")
	trail := blue.keepsHistory()
	blue.runs("web", pods(1, 10)...)
	blue.binds("web")
	blue.reconciles("web")
	green.runs("web", pods(2, 10)...)
	green.binds("web", policies("share", "0%"))
	least := w.watchSize(10, blue, green)
	green.reconciles("web")
	green.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonLimited, "10 of 10 endpoints left out", v1beta1.ShareAnnotation+" is 0%, and other owners hold 10 targets")

	for _, c := range []struct {
		blue, green         string
		blueHeld, greenHeld int
	}{
		{"100%", "20%", 10, 2},
		{"80%", "20%", 8, 2},
		{"50%", "50%", 8, 8},
		{"20%", "80%", 2, 8},
		{"0%", "100%", 0, 10},
	} {
		blue.edits("web", policies("share", c.blue))
		green.edits("web", policies("share", c.green))
		for range 3 {
			green.settles("web")
			blue.settles("web")
		}
		w.Expect([]int{len(blue.held("web")), len(green.held("web"))}).To(Equal([]int{c.blueHeld, c.greenHeld}), "%s and %s", c.blue, c.green)
	}
	least.expectKept()
	w.expectGroup(at8080(pods(2, 10)...)...)
	w.Expect(w.history(trail)).To(ContainElement(HaveSuffix(v1beta1.ShareAnnotation + " is 80%, and other owners hold 2 targets")))
}

// size watches how many targets the group has at each call.
type size struct {
	w     *world
	least int
	calls []string
}

func (w *world) watchSize(least int, clusters ...*site) *size {
	s := &size{w: w, least: least}
	for _, c := range clusters {
		c.disturbs(func(call string) fault { s.look(c.id + " " + call); return nil })
	}
	return s
}

func (s *size) look(call string) {
	if len(s.w.sim.Registered(s.w.group.ARN)) < s.least {
		s.calls = append(s.calls, call)
	}
}

func (s *size) expectKept() {
	s.w.t.Helper()
	s.look("the end")
	s.w.Expect(s.calls).To(BeEmpty(), "calls with fewer than %d targets in the group", s.least)
}

// newShared is a world in which ten pods of each of two clusters run, and one
// cluster has a share.
func newShared(t *testing.T, share string) (w *world, east, west *site) {
	w = newWorld(t)
	east, west = w.cluster("east"), w.cluster("west")
	west.runs("web", pods(2, 10)...)
	west.binds("web")
	west.reconciles("web")
	east.runs("web", pods(1, 10)...)
	east.binds("web", policies("share", share))
	east.reconciles("web")
	return w, east, west
}

// What a share costs: each pass reads the records, and one is made every half a
// minute.
func TestWhatAShareCosts(t *testing.T) {
	w, east, west := newShared(t, "20%")
	east.forget()
	after := east.reconciles("web").RequeueAfter
	w.Expect(after).To(And(BeNumerically(">=", 30*time.Second), BeNumerically("<=", 33*time.Second)))
	east.expectCalls(map[string]int{"Query": 1})

	// With more room: the look that finds it, and the one after the claim.
	west.scales("web", pods(2, 20)...)
	west.reconciles("web")
	east.forget()
	east.reconciles("web")
	w.Expect(east.held("web")).To(HaveLen(5))
	east.expectCalls(map[string]int{"Query": 2, "PutItem": 1, "RegisterTargets": 1, "PATCH targetgroupbindings/status": 1})

	// A share of all is none.
	east.edits("web", policies("share", "100%"))
	east.reconciles("web")
	east.forget()
	east.reconciles("web")
	east.expectCalls(map[string]int{})
}

// A record that cannot be read may hold anything: nothing leaves on account of
// the share, and what rolls is replaced.
func TestAShareOfAnUnreadableGroup(t *testing.T) {
	w, east, west := newShared(t, "50%")
	w.Expect(east.held("web")).To(HaveLen(10))

	w.damage(west.owner("web"))
	east.edits("web", policies("share", "20%"))
	east.reconciles("web")
	w.Expect(east.held("web")).To(HaveLen(10))
	east.expectRemovals(0)

	// All roll, and none before others are there.
	east.scales("web")
	east.reconciles("web")
	east.scales("web", pods(3, 12)...)
	east.reconciles("web")
	w.Expect(east.held("web")).To(HaveLen(10))
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonLimited, "2 of 12 endpoints left out", "hold 0 targets or more")
	east.expectRemovals(0)
}

// Both sides want a fifth only. However their calls interleave, the group has
// what one of them could fill.
func TestTwoSharesThatLeaveAtTheSameMoment(t *testing.T) {
	for _, call := range []string{"Query", "PutItem", "second Query", "DeregisterTargets", "second PutItem"} {
		t.Run("at the first's "+call, func(t *testing.T) {
			w := newWorld(t)
			east, west := w.cluster("east"), w.cluster("west")
			for i, s := range []*site{east, west} {
				s.runs("web", pods(i+1, 10)...)
				s.binds("web")
				s.reconciles("web")
				s.edits("web", policies("share", "20%"))
			}
			least := w.watchSize(10, west)
			seen := map[string]int{}
			east.disturbs(func(now string) fault {
				least.look("east " + now)
				if seen[now]++; now == call && seen[now] == 1 || "second "+now == call && seen[now] == 2 {
					west.reconciles("web")
				}
				return nil
			})
			east.reconciles("web")
			for range 3 {
				west.settles("web")
				east.settles("web")
			}
			least.expectKept()
			w.Expect([]int{len(east.held("web")), len(west.held("web"))}).To(ConsistOf(2, 8))
			w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(10))
		})
	}
}

// Whoever has the last targets keeps them, and takes in no more.
func TestAShareOfNothing(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", pods(1, 3)...)
	east.binds("web")
	east.reconciles("web")
	east.edits("web", policies("share", "0%"))
	east.scales("web", pods(1, 5)...)
	east.settles("web")
	w.expectGroup(at8080(pods(1, 3)...)...)
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonLimited, "3 of 3 targets registered", "2 of 5 endpoints left out")
}

func TestTheOrderOfCalls(t *testing.T) {
	for order, calls := range map[string][]string{
		"ReleaseFirst":  {"DeregisterTargets", "RegisterTargets"},
		"RegisterFirst": {"RegisterTargets", "DeregisterTargets"},
	} {
		t.Run(order, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", pods(1, 2)...)
			east.binds("web", policies("order", order))
			east.reconciles("web")
			east.scales("web", pods(2, 2)...)
			var made []string
			east.disturbs(func(call string) fault {
				if slices.Contains(calls, call) {
					made = append(made, call)
				}
				return nil
			})
			east.reconciles("web")
			w.Expect(made).To(Equal(calls))
			w.expectGroup(at8080(pods(2, 2)...)...)
		})
	}
}
