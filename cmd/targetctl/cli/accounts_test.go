package cli

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

func TestRolesThatCannotBeUsed(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/targets"
	for says, line := range map[string][]string{
		`--group-role: "targets" is not the ARN of an IAM role`:                               {"--group-role", "targets"},
		"--group-role: " + role + " and arn:aws:iam::123456789012:role/other are of the same": {"--group-role", role + ",arn:aws:iam::123456789012:role/other"},
		"--group-external-id: it has to be 2 to 1224 letters":                                 {"--group-role", role, "--group-external-id", "a b"},
		"--group-external-id: it is of no use without --group-role":                           {"--group-external-id", "secret"},
	} {
		t.Run(says, func(t *testing.T) {
			g, b := NewWithT(t), newBench(t)
			code, _, said := b.run(append(line, "clusters")...)
			g.Expect(code).To(Equal(exitUsage))
			g.Expect(said).To(HavePrefix("targetctl: " + says))
		})
	}
}

// inAccount is the load balancer of an account.
type inAccount struct {
	groups
	account string
}

func (n inAccount) Group(context.Context, elb.GroupRef) (elb.Group, error) {
	return elb.Group{Name: n.account}, nil
}

func (n inAccount) Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error) {
	return map[ownership.Target]elb.State{ownership.Target(n.account): elb.Healthy}, nil
}

func TestEachGroupIsReachedWithTheRoleOfItsAccount(t *testing.T) {
	reached := accounts{home: inAccount{account: "home"}, others: map[string]groups{"210987654321": inAccount{account: "other"}}}
	for arn, want := range map[string]string{
		"arn:aws:elasticloadbalancing:eu-west-1:210987654321:targetgroup/web/73e2d6bc24d8a067": "other",
		"arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6bc24d8a067": "home",
		"": "home",
	} {
		g := NewWithT(t)
		group, err := reached.Group(t.Context(), elb.GroupRef{ARN: arn, Name: "web"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(group.Name).To(Equal(want), arn)
		health, err := reached.Health(t.Context(), ownership.GroupARN(arn))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(health).To(HaveKey(ownership.Target(want)), arn)
	}
}
