package binding

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/allow"
	"target-ownership-controller/controller/api/v1beta1"
)

// allows are rules that let one namespace bind one pattern of groups.
func (s *site) allows(namespace, groups string) allow.Rules {
	s.t.Helper()
	return s.rules("[{namespaces: [" + namespace + "], targetGroups: ['" + groups + "']}]")
}

func (s *site) rules(text string) allow.Rules {
	s.t.Helper()
	rules, err := allow.Parse([]byte(text))
	s.Expect(err).NotTo(HaveOccurred())
	return rules
}

func TestANamespaceThatMayNotBindAGroup(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.Allowed = east.allows("another", "*")
	east.binds("web", exclusive)
	east.reconciles("web")
	w.expectGroup()
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonNotAllowed, "namespace "+east.namespace+" may not bind", w.group.ARN, "--allowed-groups")
	// A group that is named by its ARN is not even looked at.
	w.Expect(east.count()).To(Equal(map[string]int{"PATCH targetgroupbindings/status": 1}))
	w.Expect(east.binding("web").Finalizers).To(BeEmpty())
	east.deletes("web")
	east.expectGone("web")

	east.binds("named", toService("web"), toGroup("", w.group.Name))
	east.reconciles("named")
	east.expectReady("named", metav1.ConditionFalse, v1beta1.ReasonNotAllowed, w.group.ARN)
	w.Expect(east.count()).To(And(HaveKeyWithValue("DescribeTargetGroups", 1), Not(HaveKey("DescribeTargetHealth")), Not(HaveKey("Query"))))

	east.Allowed = east.allows(east.namespace, w.group.ARN)
	east.reconciles("named")
	w.expectGroup("10.0.0.1:8080")
	east.expectReconciled("named")
}

// One that was allowed takes nothing in any more. What is in and lives stays,
// and what is dead leaves.
func TestANamespaceThatMayNotBindAGroupAnyMore(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web", exclusive)
	east.Allowed = east.allows(east.namespace, "*")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)

	east.Allowed = allow.Rules{}
	w.somebodyRegisters("10.9.0.9:8080")
	east.scales("web", "10.0.0.2", "10.0.0.3")
	w.passes(2 * comparePeriod)
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2", "10.9.0.9")...) // an exclusive binding touches no others either
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonNotAllowed, "1 of 1 targets registered", w.group.ARN)
	east.restarts()
	east.Allowed = allow.Rules{}
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2", "10.9.0.9")...)

	east.deletes("web")
	east.settles("web")
	w.expectGroup("10.9.0.9:8080")
	east.expectGone("web")
}

// The role that a binding names has to be allowed too.
func TestARoleThatMayNotBeAssumed(t *testing.T) {
	w, _ := newAbroad(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.Allowed = east.allows(east.namespace, "*")
	east.binds("web", withRole(otherRole, "of-east"))
	east.reconciles("web")
	w.expectGroup()
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonNotAllowed, "with role "+otherRole)
	w.Expect(w.callers("AssumeRole")).To(BeEmpty())
}

// A change of the file wakes the bindings.
func TestRulesOfAFileAreFollowed(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	path := filepath.Join(t.TempDir(), "rules.yaml")
	w.Expect(os.WriteFile(path, []byte("[]"), 0o600)).To(Succeed())
	rules, err := allow.Open(path)
	w.Expect(err).NotTo(HaveOccurred())
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.controls(func(o *controller.Options) { o.Allowed, o.ComparePeriod = rules, time.Hour })
	east.eventuallyReady("web", v1beta1.ReasonNotAllowed)
	w.Expect(os.WriteFile(path, []byte("[{namespaces: ['"+east.namespace+"'], targetGroups: ['*']}]"), 0o600)).To(Succeed())
	w.eventuallyGroup("10.0.0.1:8080")
	east.eventuallyReady("web", v1beta1.ReasonReconciled)
}
