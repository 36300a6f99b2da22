package binding

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// Case 32: a table of the same name in another place, with the right schema
// and no rows. What the group holds is nobody's there: it stays, and is told as
// external.
func TestCase32ASecondTableOfTheSameNameRemovesNothing(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	for i, s := range []*site{east, west} {
		s.runs("web", pods(i, 2)...)
		s.binds("web")
		s.reconciles("web")
	}
	w.table = w.table.Another(t)
	w.store = east.dynamoDB(&wire{})
	east.restarts()
	east.scales("web", "10.0.0.1", "10.0.0.9")
	east.settles("web")
	w.expectGroup(at8080(append(pods(0, 2), append(pods(1, 2), "10.0.0.9")...)...)...)
	east.expectCounts("web", v1beta1.TargetCounts{Held: 2, External: 3})
	east.expectRemovals(0)
}

// Case 32: the role lacks one of the actions of the policy. What is wanted
// stays, and the condition names the cause.
func TestCase32TheRoleLacksOneAction(t *testing.T) {
	for _, action := range policyActions(t) {
		t.Run(action, func(t *testing.T) {
			service, call, _ := strings.Cut(action, ":")
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1", "10.0.0.2")
			east.binds("web")
			east.reconciles("web")
			east.restarts()
			if call == "DescribeTags" { // for rules of tags only
				east.Allowed = east.rules("[{namespaces: ['*'], tags: {team: '*'}}]")
			}
			if service == "dynamodb" {
				east.fails(dynamoDBSays("AccessDeniedException"), call)
			} else {
				w.elbSays(elbsim.AccessDenied(), call)
			}
			east.scales("web", "10.0.0.2", "10.0.0.3")
			if call == "DeleteItem" {
				east.edits("web", withPolicy(v1beta1.DeletionPolicyRetain))
				east.deletes("web")
			}
			told := false
			for range 3 {
				east.reconciles("web")
				told = told || tells(east.binding("web"), v1beta1.ReasonAccessDenied)
				w.passes(ownership.Settle) // a deletion waits for it
			}
			w.Expect(w.sim.Registered(w.group.ARN)).To(ContainElement("10.0.0.2:8080"))
			switch call {
			case "DescribeTable", "GetItem": // of the start, which controller/cluster tests
				w.Expect(told).To(BeFalse())
			case "DeregisterTargets":
				east.expectRecord("web", at8080("10.0.0.2", "10.0.0.3"), at8080("10.0.0.1"))
				w.Expect(told).To(BeTrue())
			default:
				w.Expect(told).To(BeTrue())
			}
		})
	}
}

// tells reports whether one of the conditions has the reason.
func tells(b *v1beta1.TargetGroupBinding, reason v1beta1.ConditionReason) bool {
	for _, c := range b.Status.Conditions {
		if c.Reason == string(reason) {
			return true
		}
	}
	return false
}

// policyActions are what docs/install/iam-policy.json allows.
func policyActions(t *testing.T) []string {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile("../../docs/install/iam-policy.json")
	g.Expect(err).NotTo(HaveOccurred())
	var policy struct{ Statement []struct{ Action any } }
	g.Expect(json.Unmarshal(text, &policy)).To(Succeed())
	var actions []string
	for _, s := range policy.Statement {
		switch a := s.Action.(type) {
		case string:
			actions = append(actions, a)
		case []any:
			for _, one := range a {
				actions = append(actions, one.(string))
			}
		}
	}
	g.Expect(len(actions)).To(BeNumerically(">=", 9))
	return unique(actions)
}
