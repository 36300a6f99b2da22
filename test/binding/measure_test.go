package binding

import (
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
)

// steady is a cluster whose binding has made its first pass, in a group that
// other clusters use too.
func steady(t *testing.T) *site {
	t.Helper()
	w := newWorld(t)
	west := w.cluster("west")
	west.runs("web", "10.2.0.1")
	west.binds("web")
	west.reconciles("web")
	east := w.cluster("east")
	east.runs("web", "10.1.0.1")
	east.binds("web")
	east.reconciles("web")
	east.forget()
	return east
}

func TestAddingTargetsCostsOneWriteOneQueryAndTheRegistration(t *testing.T) {
	for name, test := range map[string]struct{ added, registrations int }{
		"one":          {1, 1},
		"a full chunk": {200, 1},
		"one more":     {201, 2},
		"450":          {450, 3},
	} {
		t.Run(name, func(t *testing.T) {
			east := steady(t)
			east.scales("web", append(pods(3, test.added), "10.1.0.1")...)
			east.reconciles("web")
			east.expectCalls(map[string]int{
				"PutItem":                          1,
				"Query":                            1,
				"RegisterTargets":                  test.registrations,
				"PATCH targetgroupbindings/status": 1,
			})
			east.Expect(east.sim.Registered(east.group.ARN)).To(HaveLen(test.added + 2))
			east.expectReconciled("web")
		})
	}
}

func TestNothingToDoCostsNothing(t *testing.T) {
	east := steady(t)
	for range 3 {
		east.reconciles("web")
	}
	east.expectCalls(map[string]int{})
}

func TestARemovalCostsTwoWritesAndOneQuery(t *testing.T) {
	east := steady(t)
	east.scales("web", pods(1, 10)...)
	east.reconciles("web")
	east.scales("web", pods(1, 9)...)
	east.reconciles("web") // the first removal of a process is confirmed
	east.forget()
	east.scales("web", pods(1, 8)...)
	east.reconciles("web")
	east.expectCalls(map[string]int{
		"PutItem":                          2,
		"Query":                            1,
		"DeregisterTargets":                1,
		"PATCH targetgroupbindings/status": 1,
	})
}

func TestAComparisonCostsAQueryAndAListing(t *testing.T) {
	east := steady(t)
	east.passes(2 * comparePeriod)
	east.reconciles("web")
	east.expectCalls(map[string]int{"Query": 1, "DescribeTargetHealth": 1})
}

func TestAReplacedPodCostsOneStatusWriteLess(t *testing.T) {
	east := steady(t)
	east.scales("web", pods(1, 10)...)
	east.reconciles("web")
	east.scales("web", append(pods(1, 9), "10.1.1.1")...)
	east.reconciles("web")
	east.forget()
	east.scales("web", append(pods(1, 8), "10.1.1.1", "10.1.1.2")...)
	east.reconciles("web")
	east.expectCalls(map[string]int{"PutItem": 2, "Query": 1, "RegisterTargets": 1, "DeregisterTargets": 1})
}

// The CRD of the AWS Load Balancer Controller drops status.targets and
// status.targetGroupARN: what comes back never is what was written.
func TestAPrunedStatusIsNotWrittenAgain(t *testing.T) {
	w := newWorld(t)
	east := w.clusterIn(users, "east")
	east.runs("web", "10.1.0.1")
	east.binds("web", toGroup("", "web"))
	east.reconciles("web")
	w.Expect(east.binding("web").Status.Targets).To(BeNil(), "the CRD has to drop the counts")
	w.Expect(east.binding("web").Status.TargetGroupARN).To(BeEmpty(), "the CRD has to drop the ARN")
	east.expectReconciled("web")

	east.forget()
	east.reconciles("web")
	east.reconciles("web")
	east.expectCalls(map[string]int{})

	east.scales("web", "10.1.0.1", "10.1.0.2")
	east.reconciles("web")
	w.Expect(east.count()).To(HaveKeyWithValue("PATCH targetgroupbindings/status", 1))
	east.expectReady("web", "True", v1beta1.ReasonReconciled, "2 of 2 targets registered")

	east.deletes("web")
	east.reconciles("web")
	w.expectGroup()
	east.expectGone("web")
	east.expectNoRecord("web")
}
