package binding

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

const (
	otherAccount = "210987654321"
	thirdAccount = "321098765432"
	otherRole    = "arn:aws:iam::" + otherAccount + ":role/targets"
	otherRole2   = "arn:aws:iam::" + otherAccount + ":role/path/targets2"
	thirdRole    = "arn:aws:iam::" + thirdAccount + ":role/targets"
)

func withRole(arn, externalID string) edit {
	return func(b *v1beta1.TargetGroupBinding) {
		b.Spec.IamRoleArnToAssume, b.Spec.AssumeRoleExternalID = arn, externalID
	}
}

// newAbroad is a world whose group is in another account, with two roles there
// and one in a third account, where another group has the same name.
func newAbroad(t *testing.T) (w *world, third elbsim.Group) {
	w = newWorld(t)
	g := elbsim.Group{Name: "web", Protocol: "TCP", Port: 80, TargetType: elbsim.TargetTypeIP, VPCID: "vpc-0123456789abcdef0"}
	var err error
	w.group, err = w.sim.CreateGroupIn(otherAccount, g)
	w.Expect(err).NotTo(HaveOccurred())
	third, err = w.sim.CreateGroupIn(thirdAccount, g)
	w.Expect(err).NotTo(HaveOccurred())
	w.sim.SetRole(elbsim.Role{ARN: otherRole, ExternalID: "of-east"})
	w.sim.SetRole(elbsim.Role{ARN: otherRole2})
	w.sim.SetRole(elbsim.Role{ARN: thirdRole})
	return w, third
}

// callers are who changed the group so far.
func (w *world) callers(action string) []string {
	var all []string
	for _, e := range w.sim.Journal() {
		if e.Action == action && e.Outcome == elbsim.OutcomeOK {
			all = append(all, e.Caller)
		}
	}
	return all
}

// A group of another account lives as one of this account does, all calls made
// with the role, and its records are in the same table.
func TestGroupOfAnotherAccount(t *testing.T) {
	w, _ := newAbroad(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web", withRole(otherRole, "of-east"))
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2")...)
	east.expectReconciled("web")
	w.Expect(w.records()).To(HaveLen(1))

	east.scales("web", "10.0.0.2", "10.0.0.3")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.2", "10.0.0.3")...)

	east.deletes("web")
	east.reconciles("web")
	w.expectGroup()
	east.expectGone("web")
	w.Expect(w.records()).To(BeEmpty())
	for _, action := range []string{"DescribeTargetGroups", "DescribeTargetHealth", "RegisterTargets", "DeregisterTargets"} {
		w.Expect(w.callers(action)).To(And(Not(BeEmpty()), HaveEach(otherRole)), action)
	}
	w.Expect(w.callers("AssumeRole")).To(Equal([]string{"east"}), "one session for all of it")
}

// A name is looked up in the account of the role.
func TestGroupOfAnotherAccountByName(t *testing.T) {
	w, third := newAbroad(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", toGroup("", "web"), withRole(thirdRole, ""))
	east.reconciles("web")
	w.Expect(w.sim.Registered(third.ARN)).To(Equal(at8080("10.0.0.1")))
	w.expectGroup()
	w.Expect(east.binding("web").Status.TargetGroupARN).To(Equal(third.ARN))
}

// A role that cannot be assumed is told of, takes nothing out, and holds up no
// binding of another role.
func TestRolesThatCannotBeAssumed(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(*world)
		words string
	}{
		"denied":      {func(w *world) { w.sim.SetRole(elbsim.Role{ARN: otherRole, Denied: true}) }, "its trust policy has to name the controller's role"},
		"external ID": {func(w *world) { w.sim.SetRole(elbsim.Role{ARN: otherRole, ExternalID: "another"}) }, "the external ID of spec.assumeRoleExternalId"},
		"throttled": {func(w *world) {
			w.sim.Inject(elbsim.Rule{Action: "AssumeRole", Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
		}, "asks for fewer calls"},
		"unavailable": {func(w *world) {
			w.sim.Inject(elbsim.Rule{Action: "AssumeRole", Fault: elbsim.Fault{Refuse: elbsim.Unavailable()}})
		}, "check the network path to AWS STS"},
		"cut off": {func(w *world) {
			w.sim.Inject(elbsim.Rule{Action: "AssumeRole", Fault: elbsim.Fault{DropReply: true}})
		}, "check the network path to AWS STS"},
	} {
		t.Run(name, func(t *testing.T) {
			w, third := newAbroad(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.runs("third", "10.0.0.3")
			east.binds("third", toGroup(third.ARN, ""), withRole(thirdRole, ""))
			east.binds("web", withRole(otherRole, "of-east"))
			east.reconciles("web", "third")

			test.fault(w)
			w.sim.EndSessions()
			w.passes(2 * time.Hour)
			// The session of the third role is over too; where AWS STS serves
			// that role, its binding goes on.
			east.scales("web", "10.0.0.2")
			east.scales("third", "10.0.0.4")
			east.settles("third")
			east.reconciles("web")
			east.reconciles("web")
			east.expectReason("web", v1beta1.ReasonRoleNotAssumed, otherRole, test.words)
			w.expectGroup(at8080("10.0.0.1")...)
			if name == "denied" || name == "external ID" {
				w.Expect(w.sim.Registered(third.ARN)).To(Equal(at8080("10.0.0.4")))
			}

			east.deletes("web")
			east.reconciles("web")
			w.expectGroup(at8080("10.0.0.1")...)
			w.Expect(east.binding("web").Finalizers).NotTo(BeEmpty(), "its targets are not out")

			w.sim.ClearRules()
			w.sim.SetRole(elbsim.Role{ARN: otherRole, ExternalID: "of-east"})
			east.settles("web")
			w.expectGroup()
			east.expectGone("web")
		})
	}
}

// A session whose end AWS brings forward is replaced.
func TestSessionsThatEndEarly(t *testing.T) {
	w, _ := newAbroad(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", withRole(otherRole, "of-east"))
	east.reconciles("web")
	w.sim.EndSessions()
	east.scales("web", "10.0.0.2")
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2")...)
	w.Expect(w.callers("AssumeRole")).To(HaveLen(2))
}

// Another role is followed, also to another group of the same name, and what
// was put into the old one leaves it with the old role.
func TestRoleIsChanged(t *testing.T) {
	w, third := newAbroad(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", toGroup("", "web"), withRole(otherRole, "of-east"))
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1")...)

	east.edits("web", withRole(otherRole2, ""))
	east.scales("web", "10.0.0.2")
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2")...)
	w.Expect(w.callers("RegisterTargets")).To(ContainElement(otherRole2))

	east.edits("web", withRole(thirdRole, ""))
	east.settles("web")
	w.Expect(w.sim.Registered(third.ARN)).To(Equal(at8080("10.0.0.2")))
	east.sweeps(nil, "")
	w.expectGroup()
}

// A binding that goes without its finalizer: its role is remembered. After a
// restart another binding of the group tells it, else nothing is lost: the
// record stays until the binding is made again.
func TestOrphansOfAnotherAccount(t *testing.T) {
	for name, test := range map[string]struct{ restarts, neighbour bool }{
		"remembered":           {false, false},
		"told by a neighbour":  {true, true},
		"nothing to go by yet": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newAbroad(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.runs("other", "10.0.0.9")
			bind := func() { east.binds("web", withRole(otherRole, "of-east")) }
			bind()
			east.reconciles("web")
			left := at8080("10.0.0.1")
			if test.neighbour {
				east.binds("other", withRole(otherRole2, ""))
				east.reconciles("other")
				left = nil
			}
			east.loses("web")
			if test.restarts {
				east.restarts()
			}
			if test.neighbour {
				east.reconciles("other")
				left = at8080("10.0.0.9")
			}
			if name == "remembered" {
				left = nil
			}
			east.reconciles("web")
			east.sweeps(nil, "")
			w.passes(2 * time.Minute)
			east.sweeps(nil, "")
			w.expectGroup(left...)
			if name != "nothing to go by yet" {
				return
			}
			w.Expect(w.records()).To(HaveLen(1), "the record stays")
			bind()
			east.settles("web")
			east.deletes("web")
			east.settles("web")
			w.expectGroup()
			w.Expect(w.records()).To(BeEmpty())
		})
	}
}

// Whoever takes the role away from a binding is told of it, and loses nothing.
func TestRoleIsTakenAway(t *testing.T) {
	w, _ := newAbroad(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", withRole(otherRole, "of-east"))
	east.reconciles("web")
	east.edits("web", withRole("", ""))
	east.restarts()
	east.scales("web", "10.0.0.2")
	east.reconciles("web")
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonInvalidSpec, "let spec.iamRoleArnToAssume name a role of that account")
	east.deletes("web")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.1")...)
	w.Expect(w.records()).To(HaveLen(1))

	east.edits("web", withRole(otherRole, "of-east"))
	east.settles("web")
	w.expectGroup()
	east.expectGone("web")
}
