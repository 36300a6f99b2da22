package binding

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// tagged gives the group these tags and no others.
func (w *world) tagged(tags map[string]string) {
	w.t.Helper()
	w.Expect(w.sim.ConfigureGroup(w.group.ARN, func(s *elbsim.Settings) { s.Tags = tags })).To(Succeed())
}

// tagsRead is how often AWS was asked for tags so far, and by whom.
func (w *world) tagsRead() int { return len(w.callers("DescribeTags")) }

// ofTeam lets the namespace of the site bind the groups of a team.
func (s *site) ofTeam(team string) string {
	return "[{namespaces: [" + s.namespace + "], tags: {team: '" + team + "'}}]"
}

func TestANamespaceMayBindGroupsWithATag(t *testing.T) {
	for name, ref := range map[string]func(*world) edit{
		"by ARN":  func(w *world) edit { return toGroup(w.group.ARN, "") },
		"by name": func(w *world) edit { return toGroup("", w.group.Name) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.tagged(map[string]string{"team": "stock"})
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.Allowed = east.rules(east.ofTeam("sh*"))
			east.binds("web", ref(w))
			next := east.reconciles("web").RequeueAfter
			w.expectGroup()
			east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonNotAllowed, "namespace "+east.namespace+" may not bind", w.group.ARN)
			w.Expect(east.binding("web").Status.Conditions[0].Message).NotTo(ContainSubstring("team"), "the rules are not told")
			w.Expect(w.records()).To(BeEmpty())

			w.tagged(map[string]string{"team": "shop"})
			w.Expect(next).To(BeNumerically("<=", comparePeriod))
			w.passes(next)
			east.reconciles("web")
			w.expectGroup("10.0.0.1:8080")
			east.expectReconciled("web")
			w.Expect(w.tagsRead()).To(Equal(2))
		})
	}
}

// Tags are read once a period for all bindings of a group, and whoever takes one
// away waits no longer. Rules that do without tags read none.
func TestTagsAreReadOnceAPeriod(t *testing.T) {
	w := newWorld(t)
	w.tagged(map[string]string{"team": "shop"})
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.runs("more", "10.0.0.11")
	east.Allowed = east.allows(east.namespace, "*")
	east.binds("web")
	east.binds("more")
	east.reconciles("web", "more")
	w.Expect(w.tagsRead()).To(Equal(0))

	east.Allowed = east.rules(east.ofTeam("shop"))
	east.reconciles("web", "more")
	w.Expect(w.tagsRead()).To(Equal(1))
	w.tagged(nil)
	w.passes(comparePeriod - time.Second)
	east.scales("web", "10.0.0.1", "10.0.0.2")
	next := east.reconciles("web", "more").RequeueAfter
	w.Expect(w.tagsRead()).To(Equal(1))
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.11")...)

	// It comes again for the tags, not for the next comparison.
	w.Expect(next).To(BeNumerically("<=", time.Second))
	w.passes(next)
	east.scales("web", "10.0.0.2", "10.0.0.3")
	east.reconciles("web", "more")
	w.Expect(w.tagsRead()).To(Equal(2))
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonNotAllowed)
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2", "10.0.0.11")...)
}

// Tags that cannot be read say nothing: nothing enters on them, nothing that
// lives leaves, and the cause is told.
func TestTagsThatCannotBeRead(t *testing.T) {
	for reason, refusal := range map[v1beta1.ConditionReason]*elbsim.Error{
		v1beta1.ReasonAccessDenied: elbsim.AccessDenied(),
		v1beta1.ReasonThrottled:    elbsim.Throttled(),
	} {
		t.Run(string(reason), func(t *testing.T) {
			w := newWorld(t)
			w.tagged(map[string]string{"team": "shop"})
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.Allowed = east.rules(east.ofTeam("shop"))
			east.binds("web", exclusive)
			refuse := func() { w.sim.Inject(elbsim.Rule{Action: "DescribeTags", Fault: elbsim.Fault{Refuse: refusal}}) }
			refuse()
			next := east.reconciles("web").RequeueAfter
			w.expectGroup()
			east.expectReady("web", metav1.ConditionUnknown, reason, "is not known", "read the tags of target group web")
			w.Expect(next).To(BeNumerically("<", time.Minute), "it is tried again")
			w.Expect(w.records()).To(BeEmpty())

			w.sim.ClearRules()
			east.settles("web")
			w.expectGroup("10.0.0.1:8080")
			east.expectReconciled("web")

			refuse()
			w.somebodyRegisters("10.9.0.9:8080")
			w.passes(comparePeriod)
			east.scales("web", "10.0.0.1", "10.0.0.2")
			next = east.reconciles("web").RequeueAfter
			w.expectGroup(at8080("10.0.0.1", "10.9.0.9")...) // an exclusive binding takes out nothing on it either
			east.expectReady("web", metav1.ConditionUnknown, reason, "1 of 1 targets registered", "is not known")
			w.Expect(next).To(BeNumerically("<", time.Minute), "it is tried again")
			east.scales("web", "10.0.0.2")
			w.passes(ownership.Settle)
			east.reconciles("web")
			w.expectGroup("10.9.0.9:8080") // the dead leave

			w.sim.ClearRules()
			east.edits("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.MultiClusterTargetGroup = true })
			east.settles("web")
			w.expectGroup(at8080("10.0.0.2", "10.9.0.9")...)
			east.expectReconciled("web")

			refuse()
			w.passes(comparePeriod)
			east.deletes("web")
			east.settles("web")
			w.expectGroup("10.9.0.9:8080")
			east.expectGone("web")
		})
	}
}

// Tags of a group in another account are read with the role of the binding,
// once the rules let it be assumed.
func TestTagsOfAGroupOfAnotherAccount(t *testing.T) {
	w, _ := newAbroad(t)
	w.tagged(map[string]string{"team": "shop"})
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.Allowed = east.rules(east.ofTeam("shop"))
	east.binds("web", withRole(otherRole, "of-east"))
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonNotAllowed, "with role "+otherRole)
	w.Expect(w.callers("AssumeRole")).To(BeEmpty())

	east.Allowed = east.rules("[{namespaces: [" + east.namespace + "], tags: {team: shop}, roles: ['" + otherRole + "']}]")
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectReconciled("web")
	w.Expect(w.callers("DescribeTags")).To(Equal(w.callers("RegisterTargets")))
	w.Expect(w.tagsRead()).To(Equal(1))
}
