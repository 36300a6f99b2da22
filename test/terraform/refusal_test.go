package terraform

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// refused are values that a variable's validation does not take, and a part
// of the message that says so.
var refused = map[string][]struct{ variable, value, message string }{
	"ownership-table": {
		{"name", `"ab"`, "3 to 255"},
		{"name", `"a b c"`, "3 to 255"},
		{"provisioned", `{ read = { min = 0 } }`, "whole units, min at least 1"},
		{"provisioned", `{ write = { min = 10, max = 9 } }`, "max at least min"},
		{"provisioned", `{ read = { min = 1.5 } }`, "whole units"},
		{"provisioned", `{ index_write = 0 }`, "capacity of the index"},
		{"provisioned", `{ target_utilization = 19 }`, "between 20 and 90"},
		{"provisioned", `{ target_utilization = 91 }`, "between 20 and 90"},
		{"kms_key_arn", `"alias/mine"`, "by its ARN"},
		{"kms_key_arn", `"arn:aws:kms:eu-west-1:123456789012:alias/mine"`, "alias"},
		{"replicas", `["eu-central-1"]`, "the last writer wins"},
		{"tags", `{ "AWS:team" = "edge" }`, "reserved"},
	},
	"controller-role": {
		{"cluster_id", `"-east"`, "letter or digit at both ends"},
		{"cluster_id", `"east/web"`, "1 to 100"},
		{"name", `"a role"`, "1 to 64"},
		{"table_arn", `"shared"`, "by its ARN"},
		{"table_arn", `"` + tableARN + `/index/by-cluster"`, "without an index"},
		{"kms_key_arn", `"1234abcd-12ab-34cd-56ef-1234567890ab"`, "bare ID"},
		{"target_group_arns", `["web"]`, "by their ARNs"},
		{"target_group_arns", `["*"]`, "by their ARNs"},
		{"target_group_arns", `[` + strings.Repeat(`"`+groupARN+`",`, 31) + `]`, "At most 30"},
		{"target_group_tags", `{ team = "" }`, "1 to 256"},
		{"target_group_tags", `{ "team*" = "edge" }`, "letters, digits, spaces"},
		{"assumed_role_arns", `["targets"]`, "by their ARNs"},
		{"assumed_role_arns", `["arn:aws:iam::210987654321:role/*"]`, "without wildcards"},
		{"oidc_provider_arn", `"https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE"`, "not by the URL"},
		{"pod_identity_cluster_name", `"east.example"`, "EKS cluster name"},
		{"namespace", `"*"`, "a wildcard would let other namespaces"},
		{"service_account", `"Controller"`, "lowercase"},
		{"permissions_boundary_arn", `"boundary"`, "ARN of a policy"},
		{"tags", `{ "aws:team" = "edge" }`, "reserved"},
	},
}

func TestVariablesRefuseWhatCannotBe(t *testing.T) {
	for name, cases := range refused {
		m := load(t, modulesDir+name)
		for _, c := range cases {
			t.Run(name+"/"+c.variable+"="+c.value[:min(len(c.value), 40)], func(t *testing.T) {
				given := inputs{c.variable: c.value}
				if name == "controller-role" {
					given = roleInputs(given)
				}
				b := m.block(t, "variable", c.variable)
				got := refusals(t, b.Body.Blocks, "validation", m.evaluateVariables(t, given))
				NewWithT(t).Expect(got).To(ConsistOf(ContainSubstring(c.message)))
			})
		}
	}
}

// taken are inputs that everything is right about.
var taken = map[string][]inputs{
	"ownership-table": {
		{},
		{"name": `"a.b-C_9"`, "kms_key_arn": `"` + keyARN + `"`, "tags": `{ team = "edge" }`},
		{"provisioned": `{}`},
		{"provisioned": `{ read = { min = 1, max = 1 }, target_utilization = 90 }`},
	},
	"controller-role": {
		roleInputs(nil),
		roleInputs(inputs{"cluster_id": `"prod_eu-1.blue"`, "name": `"role+=,.@-_"`}),
		roleInputs(inputs{"target_group_arns": `[]`, "target_group_tags": `{ "team a" = "straße/1:2+=@-_." }`}),
		roleInputs(inputs{"oidc_provider_arn": `null`, "pod_identity_cluster_name": `"east_1"`}),
		roleInputs(inputs{"assumed_role_arns": `["arn:aws:iam::210987654321:role/path/targets", "arn:aws-us-gov:iam::210987654321:role/t+=,.@_-"]`}),
		roleInputs(inputs{"restrict_leading_keys": `true`, "permissions_boundary_arn": `"arn:aws:iam::aws:policy/PowerUserAccess"`}),
		roleInputs(inputs{"table_arn": `"arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/abc"`, "target_group_arns": `[]`, "target_group_tags": `{ a = "b" }`}),
	},
}

func TestVariablesTakeWhatIsRight(t *testing.T) {
	for name, cases := range taken {
		m := load(t, modulesDir+name)
		for _, given := range cases {
			ctx := m.evaluate(t, given)
			for _, b := range m.blocks {
				g := NewWithT(t)
				g.Expect(refusals(t, b.Body.Blocks, "validation", ctx)).To(BeEmpty(), "%s %v", name, given)
				for _, inner := range b.Body.Blocks {
					g.Expect(refusals(t, inner.Body.Blocks, "precondition", ctx)).To(BeEmpty(), "%s %v", name, given)
				}
			}
		}
	}
}

func TestRoleRefusesWhatDoesNotFitTogether(t *testing.T) {
	const otherRegion = `["arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/73e2d6bc24d8a067"]`
	const otherAccount = `["arn:aws:elasticloadbalancing:eu-west-1:210987654321:targetgroup/web/73e2d6bc24d8a067"]`
	tags, both := `{ team = "edge" }`, inputs{"pod_identity_cluster_name": `"east"`}
	for message, given := range map[string]inputs{
		"longer than the 64 characters":      {"cluster_id": `"` + strings.Repeat("a", 48) + `"`},
		"not both and not none: they say":    {"target_group_tags": tags},
		"target_group_arns or":               {"target_group_arns": `[]`},
		"targetgroup/web/73e2d6bc24d8a067.":  {"target_group_arns": otherRegion},
		"123456789012:table/shared are: ":    {"target_group_arns": otherAccount},
		"needs target_group_arns":            {"restrict_leading_keys": `true`, "target_group_arns": `[]`, "target_group_tags": tags},
		"(EKS Pod Identity), not both":       both,
		"Give either oidc_provider_arn (IRS": {"oidc_provider_arn": `null`},
	} {
		t.Run(message, func(t *testing.T) {
			m := load(t, modulesDir+"controller-role")
			role := m.block(t, "resource", "aws_iam_role", "this")
			var got []string
			for _, b := range role.Body.Blocks {
				got = append(got, refusals(t, b.Body.Blocks, "precondition", m.evaluate(t, roleInputs(given)))...)
			}
			NewWithT(t).Expect(got).To(ConsistOf(ContainSubstring(message)))
		})
	}
}
