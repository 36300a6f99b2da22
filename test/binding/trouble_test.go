package binding

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

func TestCase11ATargetTakenOutByHandComesBackWithinAComparisonPeriod(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	after := east.reconciles("web").RequeueAfter
	w.Expect(after).To(BeNumerically("<=", comparePeriod+comparePeriod/10))
	w.passes(after)
	w.somebodyDeregisters("10.0.0.1:8080") // it is listed for a while yet, as draining
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080")
	east.expectReconciled("web")
	east.expectRemovals(0)
}

func TestCase14DeadTargetsMakeRoomInAFullGroup(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.sim.ConfigureGroup(w.group.ARN, func(s *elbsim.Settings) { s.Quota = 100 })).To(Succeed())
	a, b := w.cluster("a"), w.cluster("b")
	a.runs("web", pods(1, 60)...)
	a.binds("web")
	a.reconciles("web")
	b.runs("web", pods(2, 30)...)
	b.binds("web")
	b.reconciles("web")

	alive := append(pods(2, 30)[10:], pods(3, 40)...)
	b.scales("web", alive...)
	result := b.reconciles("web")
	entering := at8080(pods(3, 40)...)
	slices.Sort(entering) // which of them go in first
	w.expectGroup(slices.Concat(at8080(pods(1, 60)...), at8080(pods(2, 30)[10:]...), entering[:20])...)
	b.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonGroupFull, "40 of 60 targets registered", "raise the quota")
	b.expectCounts("web", v1beta1.TargetCounts{Held: 60, Pending: 20})
	b.expectWaiting("web", map[string]int{"refused": 20})
	w.Expect(result.RequeueAfter).To(BeNumerically("<=", 30*time.Second))
	b.expectEvents("Warning GroupFull: ")

	a.scales("web", pods(1, 40)...)
	a.reconciles("web")
	b.reconciles("web")
	b.expectReconciled("web")
	b.expectEvents("Normal Reconciled: ")
	w.expectGroup(at8080(append(alive, pods(1, 40)...)...)...)
}

func TestCase15OneBadInstanceAmongTen(t *testing.T) {
	w := newWorld(t, elbsim.Group{TargetType: elbsim.TargetTypeInstance})
	east := w.cluster("east")
	east.runsOnNodePort("web", 0)
	port := int(east.service("web").Spec.Ports[0].NodePort)
	for i := range 10 {
		east.node(fmt.Sprintf("i-0%d", i))
	}
	w.sim.SetInstance("i-03", elbsim.InstanceNotRunning)
	east.binds("web", east.onOwnNodes)
	east.reconciles("web")
	w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(9))
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonTargetsRefused, "9 of 10", at(port, "i-03")[0], "not in a running state")
	east.expectCounts("web", v1beta1.TargetCounts{Held: 10, Pending: 1})
	for range 4 { // when it is asked again, and when not yet
		east.expectWaiting("web", map[string]int{"refused": 1})
		w.passes(time.Second)
		east.reconciles("web")
	}

	w.sim.SetInstance("i-03", elbsim.InstanceRunning)
	w.passes(30 * time.Second)
	east.reconciles("web")
	w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(10))
	east.expectReconciled("web")
}

func TestCase18ANewPodDoesNotWaitForARetry(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.fails(dynamoDBSays("AccessDeniedException"), "Query")
	east.scales("web", "10.0.0.1", "10.0.0.2")
	for failures := range 6 {
		w.Expect(east.reconciles("web").RequeueAfter).To(Equal(firstRetry << failures))
	}
	east.calm()
	east.scales("web", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	east.reconciles("web") // for the event, with the clock where it was
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)
	east.expectReconciled("web")
}

// Neither registrations nor removals need a listing of the group. That the
// record cannot be compared with it is told.
func TestAGroupThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	w.elbSays(elbsim.AccessDenied(), "DescribeTargetHealth")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
	east.expectReconciled("web")
	east.expectConsistent("web", metav1.ConditionUnknown, v1beta1.ReasonAccessDenied, "could not be compared", "policy of the controller's role")
	east.scales("web", "10.0.0.1")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")

	w.sim.ClearRules()
	w.somebodyDeregisters("10.0.0.1:8080")
	w.passes(time.Minute)
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectConsistent("web", metav1.ConditionTrue, v1beta1.ReasonConsistent)
}

// A target is blocked until its releasing owner counts as dead, and looked at
// again every second, to lose no time.
func TestABlockedTargetIsLookedAtEverySecond(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	west.runs("web", "10.0.0.1")
	west.binds("web")
	west.reconciles("web")
	west.scales("web")
	w.elbSays(elbsim.Throttled(), "DeregisterTargets")
	west.reconciles("web") // flagged, and stuck
	east.runs("web", "10.0.0.1")
	east.binds("web")
	for range 3 {
		after := east.reconciles("web").RequeueAfter
		east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonBlocked)
		w.Expect(after).To(And(BeNumerically(">=", time.Second), BeNumerically("<=", 1100*time.Millisecond)))
		w.passes(20 * time.Second)
	}
	east.reconciles("web")
	east.expectReconciled("web")
}

func TestCase16OneBlockedTargetAmongFifty(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	all := pods(1, 50)
	west.runs("web", all[7])
	west.binds("web")
	west.reconciles("web")
	west.scales("web")
	west.fails(connectionReset, "DeregisterTargets")
	west.reconciles("web") // flagged, and stuck

	east.runs("web", all...)
	east.binds("web")
	soon := east.reconciles("web").RequeueAfter
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonBlocked, "49 of 50", "1 wait")
	east.expectCounts("web", v1beta1.TargetCounts{Held: 50, Blocked: 1})
	w.Expect(soon).To(BeNumerically("<", 2*time.Second))

	// West never comes back: its call has landed after a while, or never will.
	w.passes(ownership.Settle)
	east.reconciles("web")
	east.expectReconciled("web")
	w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(50))
}

// Case 18 and 20, as far as they are a matter of one pass: troubles are
// retried within tens of seconds, and a pass with a new pod does not wait.
func TestCase18ErrorsDoNotDelayANewPod(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.scales("web", "10.0.0.1", "10.0.0.2")
	east.fails(dynamoDBSays("ThrottlingException"), "PutItem")
	var last time.Duration
	for range 12 {
		last = east.reconciles("web").RequeueAfter
	}
	w.Expect(last).To(BeNumerically("<=", 30*time.Second))
	east.calm()
	east.scales("web", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)
	east.expectEvents("Warning Throttled: ", "Normal Reconciled: ")
}

// Nothing leaves the group on the word of a table that does not answer; what
// is held stays; the reason is told; all is well again by itself.
func TestTroublesOfTheTable(t *testing.T) {
	for name, test := range map[string]struct {
		f      fault
		reason v1beta1.ConditionReason
		words  string
	}{
		"missing":     {dynamoDBSays("ResourceNotFoundException"), v1beta1.ReasonTableUnavailable, "correct the table name or the region"},
		"throttled":   {dynamoDBSays("ProvisionedThroughputExceededException"), v1beta1.ReasonThrottled, "throttling"},
		"forbidden":   {dynamoDBSays("AccessDeniedException"), v1beta1.ReasonAccessDenied, "policy of the role"},
		"unreachable": {connectionReset, v1beta1.ReasonTableUnavailable, "check the region, the endpoint and the network"},
	} {
		for _, call := range []string{"PutItem", "Query"} {
			t.Run(name+", "+call, func(t *testing.T) {
				w := newWorld(t)
				east := w.cluster("east")
				east.runs("web", "10.0.0.1", "10.0.0.2")
				east.binds("web")
				east.reconciles("web")
				east.scales("web", "10.0.0.2", "10.0.0.3")
				east.fails(test.f, call)
				east.reconciles("web")
				east.reconciles("web")
				w.expectGroup("10.0.0.1:8080", "10.0.0.2:8080")
				east.expectReady("web", metav1.ConditionUnknown, test.reason, test.words)
				east.expectConsistent("web", metav1.ConditionUnknown, test.reason)
				east.expectEvents("Warning " + string(test.reason) + ": ")
				east.expectRemovals(0)

				east.calm()
				east.settles("web")
				w.expectGroup("10.0.0.2:8080", "10.0.0.3:8080")
				east.expectReconciled("web")
				east.expectRecord("web", at8080("10.0.0.2", "10.0.0.3"), nil)
			})
		}
	}
}

// A record of a newer version holds back removals, and nothing else.
func TestAnUnreadableRecordHoldsBackRemovals(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	for _, s := range []*site{east, west} {
		s.runs("web", pods(1, 1)...)
		s.binds("web")
		s.reconciles("web")
	}
	w.damage(west.owner("web"))
	east.scales("web", "10.0.0.3")
	east.reconciles("web")
	w.expectGroup("10.1.0.1:8080", "10.0.0.3:8080")
	east.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled, "1 of 1", "1 leaving")
	east.expectConsistent("web", metav1.ConditionFalse, v1beta1.ReasonRecordUnreadable, west.owner("web"), "schema")

	// Its own record: nothing at all is decided.
	west.scales("web", "10.0.0.4")
	west.restarts()
	west.reconciles("web")
	w.expectGroup("10.1.0.1:8080", "10.0.0.3:8080")
	west.expectReady("web", metav1.ConditionUnknown, v1beta1.ReasonRecordUnreadable)
}

// damage has the record say that a newer version wrote it.
func (w *world) damage(owner string) {
	w.t.Helper()
	_, err := w.table.Client.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{
		TableName: &w.table.Name, Key: itemKey(w.group.ARN, owner),
		UpdateExpression: new("SET schemaVersion = :newer"), ExpressionAttributeValues: number(":newer", 99),
	})
	w.Expect(err).NotTo(HaveOccurred())
}

// losesRow deletes a record behind everybody's back.
func (w *world) losesRow(owner string) {
	w.t.Helper()
	_, err := w.table.Client.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{
		TableName: &w.table.Name, Key: itemKey(w.group.ARN, owner),
	})
	w.Expect(err).NotTo(HaveOccurred())
}

func (w *world) deletesGroup() {
	w.t.Helper()
	_, err := w.sim.Client("somebody").DeleteTargetGroup(w.t.Context(), &elbv2.DeleteTargetGroupInput{TargetGroupArn: &w.group.ARN})
	w.Expect(err).NotTo(HaveOccurred())
}

// The condition has it as long as it lasts.
func TestATroubleIsLoggedWhenItBegins(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	var lines []string
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	passes := func(n int) {
		for range n {
			_, err := east.try(ctx, east.key("web"))
			w.Expect(err).NotTo(HaveOccurred())
		}
	}
	throttled, forbidden := dynamoDBSays("ThrottlingException"), dynamoDBSays("AccessDeniedException")
	east.fails(throttled, "Query")
	passes(3)
	w.Expect(lines).To(ConsistOf(ContainSubstring("Throttled")))
	east.fails(forbidden, "Query")
	passes(3)
	w.Expect(lines).To(ConsistOf(ContainSubstring("Throttled"), ContainSubstring("AccessDenied")))
	east.calm()
	passes(1)
	lines = nil
	passes(3)
	w.Expect(lines).To(BeEmpty(), "nothing to do")
	east.restarts()
	east.fails(throttled, "Query")
	passes(2)
	w.Expect(lines).To(HaveLen(1), "a new trouble")
}
