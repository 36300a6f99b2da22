package terraform

import (
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

const (
	tableARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/shared"
	groupARN = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6bc24d8a067"
	keyARN   = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	oidcARN  = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
)

// roleInputs are those of a role that can be made, with changes.
func roleInputs(changes inputs) inputs {
	all := inputs{
		"cluster_id":        `"east"`,
		"table_arn":         `"` + tableARN + `"`,
		"target_group_arns": `["` + groupARN + `"]`,
		"oidc_provider_arn": `"` + oidcARN + `"`,
	}
	maps.Copy(all, changes)
	return all
}

// document is an aws_iam_policy_document.
type document struct {
	Statements []statement `hcl:"statement,block"`
}

type statement struct {
	Sid        string      `hcl:"sid"`
	Actions    []string    `hcl:"actions"`
	Resources  []string    `hcl:"resources,optional"`
	Principals []principal `hcl:"principals,block"`
	Conditions []condition `hcl:"condition,block"`
}

type principal struct {
	Type        string   `hcl:"type"`
	Identifiers []string `hcl:"identifiers"`
}

type condition struct {
	Test     string   `hcl:"test"`
	Variable string   `hcl:"variable"`
	Values   []string `hcl:"values"`
}

func readPolicy(t *testing.T, name string, changes inputs) map[string]statement {
	t.Helper()
	m := load(t, modulesDir+"controller-role")
	doc := decode[document](t, m.block(t, "data", "aws_iam_policy_document", name), m.evaluate(t, roleInputs(changes)))
	statements := map[string]statement{}
	for _, s := range doc.Statements {
		statements[s.Sid] = s
	}
	NewWithT(t).Expect(statements).To(HaveLen(len(doc.Statements)), "each has a sid of its own")
	return statements
}

// TestRoleAllowsWhatTheControllerCalls fails for an action that the role
// lacks and for one that nothing calls.
func TestRoleAllowsWhatTheControllerCalls(t *testing.T) {
	g := NewWithT(t)
	code := controllerCalls(t)
	var allowed []string
	for _, s := range readPolicy(t, "permissions", nil) {
		allowed = append(allowed, s.Actions...)
	}
	g.Expect(slices.Compact(slices.Sorted(slices.Values(append(allowed, free))))).To(Equal(code.actions))
	g.Expect(code.queryIndex).To(BeTrue(), "the index is queried")
	g.Expect(code.createCalls).To(BeEmpty(), "the controller creates no table")
}

func TestRoleAllowsNoMoreThanItsTableAndGroups(t *testing.T) {
	g := NewWithT(t)
	index := tableARN + "/index/" + dynamo.Definition("shared").Index.Name
	resources := map[string][]string{}
	for sid, s := range readPolicy(t, "permissions", nil) {
		g.Expect(s.Conditions).To(BeEmpty(), sid)
		for _, action := range s.Actions {
			resources[action] = append(resources[action], s.Resources...)
		}
	}
	g.Expect(resources).To(Equal(map[string][]string{
		"dynamodb:DescribeTable":                    {tableARN},
		"dynamodb:GetItem":                          {tableARN},
		"dynamodb:PutItem":                          {tableARN},
		"dynamodb:DeleteItem":                       {tableARN},
		"dynamodb:Query":                            resources["dynamodb:Query"], // below, in any order
		"elasticloadbalancing:DescribeTags":         {"*"},
		"elasticloadbalancing:DescribeTargetGroups": {"*"},
		"elasticloadbalancing:DescribeTargetHealth": {"*"},
		"elasticloadbalancing:RegisterTargets":      {groupARN},
		"elasticloadbalancing:DeregisterTargets":    {groupARN},
	}))
	g.Expect(resources["dynamodb:Query"]).To(ConsistOf(tableARN, index))
}

func TestRolesOfOtherAccountsAreThoseThatAreNamed(t *testing.T) {
	g := NewWithT(t)
	const other = "arn:aws:iam::210987654321:role/targets"
	s := readPolicy(t, "permissions", inputs{"assumed_role_arns": `["` + other + `"]`})["AssumeRoles"]
	g.Expect(s).To(Equal(statement{Sid: "AssumeRoles", Actions: []string{"sts:AssumeRole"}, Resources: []string{other}}))
	g.Expect(readPolicy(t, "permissions", nil)).NotTo(HaveKey("AssumeRoles"))
}

func TestGroupsByTagAreThoseOfTheRegion(t *testing.T) {
	g := NewWithT(t)
	s := readPolicy(t, "permissions", inputs{
		"target_group_arns": `[]`,
		"target_group_tags": `{ team = "edge", "target-ownership" = "shared" }`,
	})["ChangeTargets"]
	g.Expect(s.Resources).To(ConsistOf("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/*/*"))
	g.Expect(s.Conditions).To(ConsistOf(
		condition{"StringEquals", "aws:ResourceTag/team", []string{"edge"}},
		condition{"StringEquals", "aws:ResourceTag/target-ownership", []string{"shared"}},
	))
}

// Each key may be used as the code uses it: it reads single entries of the
// registry and deletes none, reads records by group, and only adds to the
// history. IAM cannot keep a PutItem from replacing an item.
func TestLeadingKeysAreTheGroupsAndTheRegistry(t *testing.T) {
	g := NewWithT(t)
	_, err := ownership.ParseGroupARN(groupARN)
	g.Expect(err).NotTo(HaveOccurred(), "a hash key as the controller writes it")
	of := map[string][]string{}
	for sid, s := range readPolicy(t, "permissions", inputs{"restrict_leading_keys": `true`}) {
		if !slices.Equal(s.Resources, []string{tableARN}) || sid == "CheckTable" {
			g.Expect(s.Conditions).To(BeEmpty(), sid)
			continue
		}
		g.Expect(s.Conditions).To(HaveLen(1), sid)
		g.Expect(s.Conditions[0].Test).To(Equal("ForAllValues:StringEquals"))
		g.Expect(s.Conditions[0].Variable).To(Equal("dynamodb:LeadingKeys"))
		for _, key := range s.Conditions[0].Values {
			of[key] = append(of[key], s.Actions...)
		}
	}
	for key := range of {
		slices.Sort(of[key])
	}
	g.Expect(of).To(Equal(map[string][]string{
		groupARN:                        {"dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"},
		dynamo.ClusterKey:               {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"},
		dynamo.HistoryPrefix + groupARN: {"dynamodb:PutItem", "dynamodb:Query"},
	}))
}

func TestOnlyDynamoDBDecryptsForTheRole(t *testing.T) {
	g := NewWithT(t)
	s := readPolicy(t, "permissions", inputs{"kms_key_arn": `"` + keyARN + `"`})["DecryptTableKey"]
	g.Expect(s.Actions).To(ConsistOf("kms:Decrypt"))
	g.Expect(s.Resources).To(ConsistOf(keyARN))
	g.Expect(s.Conditions).To(ConsistOf(
		condition{"StringEquals", "kms:ViaService", []string{"dynamodb.eu-west-1.amazonaws.com"}},
		condition{"StringEquals", "kms:EncryptionContext:aws:dynamodb:tableName", []string{"shared"}},
	))
}

func TestOnlyTheServiceAccountTakesTheRole(t *testing.T) {
	const issuer = "oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
	names := inputs{"namespace": `"edge"`, "service_account": `"toc"`}
	podIdentity := inputs{"oidc_provider_arn": `null`, "pod_identity_cluster_name": `"east-1"`}
	maps.Copy(podIdentity, names)

	g := NewWithT(t)
	g.Expect(readPolicy(t, "trust", names)).To(Equal(map[string]statement{"ServiceAccount": {
		Sid:        "ServiceAccount",
		Actions:    []string{"sts:AssumeRoleWithWebIdentity"},
		Principals: []principal{{"Federated", []string{oidcARN}}},
		Conditions: []condition{
			{"StringEquals", issuer + ":sub", []string{"system:serviceaccount:edge:toc"}},
			{"StringEquals", issuer + ":aud", []string{"sts.amazonaws.com"}},
		},
	}}))
	g.Expect(readPolicy(t, "trust", podIdentity)).To(Equal(map[string]statement{"PodIdentity": {
		Sid:        "PodIdentity",
		Actions:    []string{"sts:AssumeRole", "sts:TagSession"},
		Principals: []principal{{"Service", []string{"pods.eks.amazonaws.com"}}},
		Conditions: []condition{
			{"StringEquals", "aws:RequestTag/eks-cluster-name", []string{"east-1"}},
			{"StringEquals", "aws:RequestTag/kubernetes-namespace", []string{"edge"}},
			{"StringEquals", "aws:RequestTag/kubernetes-service-account", []string{"toc"}},
		},
	}}))
}
