package binding

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

func TestCase19AMissingGroupIsToldAndTheBindingCanGo(t *testing.T) {
	for name, by := range map[string]func(elbsim.Group) edit{
		"by ARN":  func(g elbsim.Group) edit { return toGroup(g.ARN, "") },
		"by name": func(g elbsim.Group) edit { return toGroup("", g.Name) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web", by(w.group))
			east.reconciles("web")
			w.deletesGroup()
			w.passes(2 * comparePeriod)
			east.reconciles("web")
			east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonGroupNotFound, "web", "create the group, or delete this binding")
			east.expectRecord("web", at8080("10.0.0.1"), nil)

			east.deletes("web")
			east.fails(dynamoDBSays("ThrottlingException"), "Query")
			east.reconciles("web")
			east.calm()
			east.reconciles("web")
			east.expectGone("web")
			east.expectNoRecord("web")
		})
	}
}

// The first call to find that the group is gone is one that changes it.
func TestCase19AGroupThatGoesBetweenTwoComparisons(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	w.deletesGroup()
	east.scales("web", "10.0.0.1", "10.0.0.2")
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonGroupNotFound)
	east.deletes("web")
	east.reconciles("web")
	east.expectGone("web")
	east.expectNoRecord("web")
}

// A group that is made anew under its name is another group.
func TestAGroupOfTheSameNameIsFound(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", toGroup("", "web"))
	east.reconciles("web")
	old := w.group.ARN
	w.deletesGroup()
	w.group = w.creates(elbsim.Group{})
	w.Expect(w.group.ARN).NotTo(Equal(old))
	w.passes(2 * comparePeriod)
	east.reconciles("web")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectReconciled("web")
	w.Expect(east.binding("web").Status.TargetGroupARN).To(Equal(w.group.ARN))
}

func TestCase19WithoutPermissionTheFinalizerStaysWithTheReason(t *testing.T) {
	for _, action := range []string{"DescribeTargetGroups", "DeregisterTargets"} {
		t.Run(action, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web")
			east.reconciles("web")
			east.restarts()
			w.elbSays(elbsim.AccessDenied(), action)
			east.deletes("web")
			for i := range 4 {
				after := east.reconciles("web").RequeueAfter
				w.Expect(after).To(BeNumerically(">=", firstRetry<<i), "no hot loop")
			}
			w.Expect(east.binding("web").Finalizers).To(ConsistOf(v1beta1.Finalizer))
			east.expectReason("web", v1beta1.ReasonAccessDenied, "policy of the controller's role")
			w.expectGroup("10.0.0.1:8080")

			w.sim.ClearRules()
			east.settles("web")
			w.expectGroup()
			east.expectGone("web")
			east.expectNoRecord("web")
		})
	}
}

// Throttled at the end of a binding, which is not the end of its targets.
func TestADeletionOutlastsTroubles(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.reconciles("web")
	for _, call := range []string{"PutItem", "Query", "DeregisterTargets", "DeleteItem", "PATCH targetgroupbindings"} {
		if call == "PutItem" {
			east.deletes("web")
		}
		east.fails(connectionReset, call)
		_, _ = east.try(t.Context(), east.key("web")) // the last one is returned
		w.Expect(east.binding("web").Finalizers).To(ConsistOf(v1beta1.Finalizer), call)
	}
	east.calm()
	east.settles("web")
	w.expectGroup()
	east.expectGone("web")
	east.expectNoRecord("web")
}
