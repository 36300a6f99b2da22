package migrate_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/elbsim"
)

const (
	otherAccount = "210987654321"
	otherRole    = "arn:aws:iam::" + otherAccount + ":role/targets"
	operatorRole = "arn:aws:iam::" + otherAccount + ":role/operators"
)

// assumes is for a controller that reaches the groups of other accounts.
func (w *world) assumes(o *controller.Options) {
	home := o.Groups.(*elb.Client)
	accounts := elb.NewAccounts(home, w.sim.STS(east), func(c aws.CredentialsProvider) elb.API {
		return w.sim.Client(east, func(o *elbv2.Options) { o.Credentials = c })
	}, east)
	o.Assume = func(role elb.Role) binding.Groups { return accounts.Of(role) }
}

// The binding names the role of its controller, and whoever migrates gives one of
// his own.
func TestABindingToAGroupOfAnotherAccount(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: calls that may be under way are waited for")
	}
	w := newWorld(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", w.sim.URL())
	for _, r := range []elbsim.Role{{ARN: otherRole}, {ARN: operatorRole, ExternalID: "of-operators"}} {
		w.sim.SetRole(r)
	}
	var err error
	w.group, err = w.sim.CreateGroupIn(otherAccount, elbsim.Group{Name: "blue", Protocol: "HTTP", Port: 80, VPCID: w.group.VPCID, TargetType: "ip"})
	w.Expect(err).NotTo(HaveOccurred())
	w.runs("10.0.0.1")
	w.has(w.binding(finalized, func(b *v1beta1.TargetGroupBinding) { b.Spec.IamRoleArnToAssume = otherRole }), w.lists(name, "10.0.0.1:8080"))
	w.oursWith(w.assumes, kind.All...)
	w.Eventually(w.clusters).Should(ConsistOf(east))

	code, out, _ := w.targetctl("lbc", "--to", "TargetGroupBinding", "--dry-run")
	w.Expect(code).To(Equal(1))
	w.Expect(out).To(ContainSubstring("give --group-role " + otherRole + ", or another role of account " + otherAccount))
	w.migrates("lbc", "--to", "TargetGroupBinding", "--group-role", operatorRole, "--group-external-id", "of-operators", "--timeout", "1m")
	w.Expect(w.object(name).GetFinalizers()).To(ConsistOf(v1beta1.Finalizer))
	w.Expect(w.owners()).To(ConsistOf("east/shop/web"))
	w.Expect(w.registered()).To(ConsistOf(at("10.0.0.1")))
}
