package targetctl_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/targetctl/doctor"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
)

// wellSite is a site in which all is well.
func wellSite(t *testing.T) *bench {
	b := start(t)
	b.cluster(t.Context(), "east", "10.0.0.1:80")
	b.cluster(t.Context(), "west", "10.0.0.2:80")
	for _, target := range []string{"10.0.0.1:80", "10.0.0.2:80"} {
		b.Expect(b.sim.SetHealth(string(b.group), target, elbtypes.TargetHealthStateEnumHealthy)).To(Succeed())
	}
	return b
}

// other makes another group, in which the cluster has a healthy target.
func (b *bench) other(t *testing.T, name, cluster string) ownership.GroupARN {
	blue := b.group
	defer func() { b.group = blue }()
	group, err := b.sim.CreateGroup(elbsim.Group{Name: name, Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: "ip"})
	b.Expect(err).NotTo(HaveOccurred())
	b.group = ownership.GroupARN(group.ARN)
	b.cluster(t.Context(), cluster, "10.0.3.1:80")
	b.Expect(b.sim.SetHealth(group.ARN, "10.0.3.1:80", elbtypes.TargetHealthStateEnumHealthy)).To(Succeed())
	return b.group
}

// examine runs doctor and reads its answer.
func (b *bench) examine(t *testing.T, flags ...string) (int, doctor.Report) {
	code, out, errs := b.try(t.Context(), append([]string{"doctor", "--watch-for", "1ms", "-o", "json"}, flags...)...)
	var report doctor.Report
	b.Expect(json.Unmarshal([]byte(out), &report)).To(Succeed(), errs)
	return code, report
}

func TestDoctorFindsNothing(t *testing.T) {
	b := wellSite(t)
	code, report := b.examine(t)
	b.Expect(report.Findings).To(BeEmpty())
	b.Expect(code).To(BeZero())
	b.Expect(b.run(t.Context(), "doctor", "--watch-for", "1ms")).To(HavePrefix("nothing is wrong with table " + b.table.Name))
}

// writes has doctor try writes in the group of the bench.
var writes = []string{"--writes", "--cluster", "east"}

// fault is one thing that is wrong, and what doctor has to say of it.
type fault struct {
	plant func(*testing.T, *bench, *between)
	check string
	where string // part of it
	what  string
	do    string
	flags []string
	also  []string // checks that fail with it
	code  int
}

func TestDoctorFindsPlantedFaults(t *testing.T) {
	describe := func(change func(map[string]any)) func(*testing.T, *bench, *between) {
		return func(_ *testing.T, _ *bench, p *between) { p.describe = change }
	}
	deny := func(operation string) func(*testing.T, *bench, *between) {
		return func(_ *testing.T, _ *bench, p *between) { p.deny = map[string]bool{operation: true} }
	}
	denyELB := func(action string) func(*testing.T, *bench, *between) {
		return func(_ *testing.T, b *bench, _ *between) {
			b.sim.Inject(elbsim.Rule{Action: action, Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
		}
	}
	for name, f := range map[string]fault{
		"no table": {
			flags: []string{"--table", "misspelt"},
			check: "TableMissing", where: "table misspelt", what: "no such table in region eu-west-1", do: "targetctl table create --region eu-west-1 --table misspelt", code: 3,
		},
		"the table is being created": {
			plant: describe(func(table map[string]any) { table["TableStatus"] = "CREATING" }),
			check: "TableStatus", what: "not active yet", do: "aws dynamodb wait table-exists", code: 3,
		},
		"other keys": {
			plant: otherTable(&dynamodb.CreateTableInput{
				AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
				KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			}),
			check: "TableKeys", what: `its key is (hash "id", range "")`, do: "targetctl table create", also: []string{"TableIndex"}, code: 3,
		},
		"no index": {
			plant: otherTable(&dynamodb.CreateTableInput{
				AttributeDefinitions: []types.AttributeDefinition{
					{AttributeName: aws.String("targetGroup"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("owner"), AttributeType: types.ScalarAttributeTypeS},
				},
				KeySchema: []types.KeySchemaElement{
					{AttributeName: aws.String("targetGroup"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("owner"), KeyType: types.KeyTypeRange},
				},
			}),
			check: "TableIndex", what: "it has no index by-cluster", do: `"Create":{"IndexName":"by-cluster"`, also: []string{"TableTTL"}, code: 3,
		},
		"an index by other keys": {
			plant: describe(func(table map[string]any) {
				index := table["GlobalSecondaryIndexes"].([]any)[0].(map[string]any)
				index["KeySchema"].([]any)[0].(map[string]any)["AttributeName"] = "owner"
			}),
			check: "TableIndex", what: "the key of its index by-cluster", do: `"Delete":{"IndexName":"by-cluster"}`, code: 3,
		},
		"a global table": {
			plant: describe(func(table map[string]any) {
				table["Replicas"] = []map[string]any{{"RegionName": "us-east-1", "ReplicaStatus": "ACTIVE"}}
			}),
			check: "TableReplicas", what: "it is a global table", do: `"Delete":{"RegionName":"us-east-1"}`, code: 3,
		},
		"capacity that somebody has to look after": {
			plant: describe(func(table map[string]any) {
				table["BillingModeSummary"] = map[string]any{"BillingMode": "PROVISIONED"}
				table["ProvisionedThroughput"] = map[string]any{"ReadCapacityUnits": 5, "WriteCapacityUnits": 1}
			}),
			check: "TableBilling", what: "5 reads and 1 writes", do: "--billing-mode PAY_PER_REQUEST", code: 0,
		},
		"history that never expires": {
			plant: func(t *testing.T, b *bench, _ *between) {
				_, err := b.table.Client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{TableName: &b.table.Name,
					TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(dynamo.AttrExpiresAt), Enabled: aws.Bool(false)}})
				b.Expect(err).NotTo(HaveOccurred())
			},
			check: "TableTTL", what: "time to live is not on", do: "Enabled=true,AttributeName=expiresAt", code: 3,
		},
		"may not describe": {plant: deny("DescribeTable"), check: "Permission", where: "dynamodb:DescribeTable", what: "assumed-role/ops", do: "allow dynamodb:DescribeTable", code: 3},
		"may not get":      {plant: deny("GetItem"), check: "Permission", where: "dynamodb:GetItem", what: "assumed-role/ops", do: "allow dynamodb:GetItem", code: 3},
		"may not query": {
			plant: deny("Query"), check: "Permission", where: "dynamodb:Query", what: "assumed-role/ops", do: "allow dynamodb:Query on the table",
			also: []string{"Permission"}, code: 3, // on the index too
		},
		"may not write history": {
			plant: func(_ *testing.T, _ *bench, p *between) {
				p.deny, p.denyAbout = map[string]bool{"PutItem": true}, dynamo.HistoryPrefix
			},
			flags: writes,
			check: "Permission", where: "dynamodb:PutItem", what: "the history of arn:aws", do: "allow dynamodb:PutItem on the history of arn:aws",
			also: []string{"Permission"}, code: 3, // the note of writes
		},
		"may not put": {
			plant: deny("PutItem"), flags: writes, check: "Permission", where: "dynamodb:PutItem", what: "assumed-role/ops", do: "allow dynamodb:PutItem",
			also: []string{"Permission", "Permission", "Permission"}, code: 3, // of the records and the history, and the note of writes
		},
		"may not delete": {
			plant: deny("DeleteItem"), flags: writes, check: "Permission", where: "dynamodb:DeleteItem", what: "assumed-role/ops", do: "allow dynamodb:DeleteItem",
			also: []string{"Permission", "Permission"}, code: 3, // of the records, and the note of writes
		},
		"may not scan": {plant: deny("Scan"), check: "Permission", where: "dynamodb:Scan", what: "were not looked for", do: "allow dynamodb:Scan on the index", code: 0},
		"may not scan, nor list targets": {
			plant: func(t *testing.T, b *bench, p *between) {
				deny("Scan")(t, b, p)
				denyELB("DescribeTargetHealth")(t, b, p)
			},
			check: "Permission", where: "elasticloadbalancing:DescribeTargetHealth", what: "AccessDenied", do: "allow elasticloadbalancing:DescribeTargetHealth",
			also: []string{"GroupUnread", "Permission"}, code: 3, // that of Scan
		},
		"may not register": {
			plant: denyELB("RegisterTargets"), flags: writes, check: "Permission", where: "elasticloadbalancing:RegisterTargets", what: "AccessDenied", do: "allow elasticloadbalancing:RegisterTargets",
			also: []string{"Permission"}, code: 3, // the note of writes
		},
		"writes, and no group": {
			flags: []string{"--writes"}, check: "Permission", where: "groups", what: "was not tried: no group was named", do: "give --cluster", code: 0,
		},
		"writes, and a cluster without records": {
			flags: []string{"--writes", "--cluster", "north"}, check: "Permission", where: "groups", what: "no cluster that has records", do: "give --cluster", code: 0,
			also: []string{"ClusterName"},
		},
		"a cluster that nobody knows": {
			flags: []string{"--cluster", "north"}, check: "ClusterName", where: "cluster north", what: "neither the registry nor a record", do: "targetctl clusters", code: 0,
		},
		"may not look up": {plant: denyELB("DescribeTargetGroups"), check: "Permission", where: "elasticloadbalancing:DescribeTargetGroups", what: "AccessDenied", do: "allow elasticloadbalancing:DescribeTargetGroups", code: 3},
		"may not list targets": {
			plant: denyELB("DescribeTargetHealth"), check: "Permission", where: "elasticloadbalancing:DescribeTargetHealth", what: "AccessDenied", do: "allow elasticloadbalancing:DescribeTargetHealth",
			also: []string{"GroupUnread"}, code: 3,
		},
		"throttled": {
			plant: func(_ *testing.T, b *bench, _ *between) {
				b.sim.Inject(elbsim.Rule{Action: "RegisterTargets", Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
			},
			flags: writes, check: "Permission", where: "elasticloadbalancing:RegisterTargets", what: "could not be tried", do: "run it again",
			also: []string{"Permission"}, code: 0, // the note of writes
		},
		"the clock of this machine": {
			plant: func(_ *testing.T, _ *bench, p *between) { p.ahead = 100 * time.Second },
			check: "MachineClock", what: "its clock is behind by 1m", do: "chronyc", code: 3,
		},
		"records of a cluster that nobody knows": {
			plant: func(t *testing.T, b *bench, _ *between) {
				_, err := b.table.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.table.Name, Key: map[string]types.AttributeValue{
					"targetGroup": &types.AttributeValueMemberS{Value: dynamo.ClusterKey}, "owner": &types.AttributeValueMemberS{Value: "west"},
				}})
				b.Expect(err).NotTo(HaveOccurred())
			},
			check: "ClusterGone", where: "cluster west", what: "1 target in 1 group", do: "targetctl release --cluster west", code: 3,
		},
		"a record that nobody understands": {
			plant: func(t *testing.T, b *bench, _ *between) {
				_, err := b.table.Client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &b.table.Name, Key: map[string]types.AttributeValue{
					"targetGroup": &types.AttributeValueMemberS{Value: string(b.group)}, "owner": &types.AttributeValueMemberS{Value: "west/shop/web"},
				}, UpdateExpression: aws.String("REMOVE held")})
				b.Expect(err).NotTo(HaveOccurred())
			},
			check: "RecordUnreadable", where: "record west/shop/web", what: "attribute held is missing", do: "aws dynamodb get-item", code: 3,
		},
		"a group that is gone": {
			plant: func(t *testing.T, b *bench, _ *between) {
				_, err := b.sim.Client("somebody").DeleteTargetGroup(t.Context(), &elbv2.DeleteTargetGroupInput{TargetGroupArn: aws.String(string(b.group))})
				b.Expect(err).NotTo(HaveOccurred())
			},
			check: "GroupMissing", where: "group blue", what: "there is no such target group", do: "correct the binding", also: []string{"GroupMissing"}, code: 3,
		},
	} {
		t.Run(name, func(t *testing.T) { f.expect(t) })
	}
}

func (f fault) expect(t *testing.T) {
	b, p := wellSite(t), &between{}
	p.stand(t, b)
	if f.plant != nil {
		f.plant(t, b, p)
	}
	code, report := b.examine(t, f.flags...)
	found := false
	var others []string
	for _, finding := range report.Findings {
		if found || string(finding.Check) != f.check {
			others = append(others, string(finding.Check))
			continue
		}
		found = true
		b.Expect(finding.Where).To(ContainSubstring(f.where))
		b.Expect(finding.What).To(ContainSubstring(f.what))
		b.Expect(finding.Do).To(ContainSubstring(f.do))
	}
	b.Expect(found).To(BeTrue(), "%+v", report.Findings)
	b.Expect(others).To(Equal(f.also), "%+v", report.Findings)
	b.Expect(code).To(Equal(f.code))
}

// otherTable has the flags name a table that is something else.
func otherTable(in *dynamodb.CreateTableInput) func(*testing.T, *bench, *between) {
	return func(t *testing.T, b *bench, _ *between) {
		in.TableName = aws.String(b.table.Name + "-other")
		in.BillingMode = types.BillingModePayPerRequest
		_, err := b.table.Client.CreateTable(t.Context(), in)
		b.Expect(err).NotTo(HaveOccurred())
		b.name = *in.TableName
	}
}

// What is not answered at all is no finding: nobody could look.
func TestDoctorCannotLook(t *testing.T) {
	b := start(t)
	code, _, errs := b.try(t.Context(), "doctor", "--dynamodb-endpoint", "http://127.0.0.1:1")
	b.Expect(code).To(Equal(1))
	b.Expect(errs).To(MatchRegexp(`^targetctl: describe the table: the table is unreachable: table "` + b.name + `", region "eu-west-1", endpoint http://127\.0\.0\.1:1 \(.*\): dial tcp 127\.0\.0\.1:1: connect: connection refused\n$`))
}

// Who may only read finds a site that is well in order.
func TestDoctorWithReadingCredentials(t *testing.T) {
	b, p := wellSite(t), &between{}
	p.deny = map[string]bool{"PutItem": true, "DeleteItem": true}
	p.stand(t, b)
	for _, action := range []string{"RegisterTargets", "DeregisterTargets"} {
		b.sim.Inject(elbsim.Rule{Action: action, Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
	}
	code, report := b.examine(t)
	b.Expect(report.Findings).To(BeEmpty())
	b.Expect(code).To(BeZero())
}

// A group that no cluster of the registry has records in is looked at if it,
// or the cluster, is named.
func TestDoctorWithoutScanLooksAtWhatIsNamed(t *testing.T) {
	for _, flag := range [][]string{{"--group", "red"}, {"--cluster", "ghost"}} {
		b, p := wellSite(t), &between{deny: map[string]bool{"Scan": true}}
		b.other(t, "red", "ghost")
		_, err := b.table.Client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &b.table.Name, Key: map[string]types.AttributeValue{
			"targetGroup": &types.AttributeValueMemberS{Value: dynamo.ClusterKey}, "owner": &types.AttributeValueMemberS{Value: "ghost"},
		}})
		b.Expect(err).NotTo(HaveOccurred())
		p.stand(t, b)
		_, report := b.examine(t)
		b.Expect(report.Findings).To(HaveLen(1), "that of Scan")
		_, report = b.examine(t, flag...)
		b.Expect(report.Findings).To(HaveLen(2))
		b.Expect(report.Findings[0].Check).To(BeEquivalentTo("ClusterGone"))
	}
}

// Writes are tried where they were asked for, and nowhere else.
func TestDoctorWritesToNobodyElse(t *testing.T) {
	b := wellSite(t)
	red := b.other(t, "red", "south")
	for _, c := range []struct {
		flags []string
		tried []ownership.GroupARN
	}{
		{nil, nil},
		{[]string{"--writes"}, nil},
		{[]string{"--group", "red"}, nil},
		{[]string{"--cluster", "south"}, nil},
		{[]string{"--writes", "--cluster", "east"}, []ownership.GroupARN{b.group}},
		{[]string{"--writes", "--cluster", "south"}, []ownership.GroupARN{red}},
		{[]string{"--writes", "--cluster", "south,east"}, []ownership.GroupARN{b.group, red}},
		{[]string{"--writes", "--group", "red"}, []ownership.GroupARN{red}},
	} {
		before := len(b.sim.Journal())
		b.examine(t, c.flags...)
		var tried []ownership.GroupARN
		for _, entry := range b.sim.Journal()[before:] {
			if !strings.HasPrefix(entry.Action, "Describe") {
				tried = append(tried, ownership.GroupARN(entry.Group))
			}
		}
		b.Expect(tried).To(ConsistOf(c.tried), "%v", c.flags)
	}
}

// Nothing that doctor tries is ever done.
func TestDoctorChangesNothing(t *testing.T) {
	b := wellSite(t)
	before := b.items(t)
	calls := b.sim.Journal()
	b.examine(t, writes...)
	b.Expect(b.items(t)).To(Equal(before))
	for _, entry := range b.sim.Journal()[len(calls):] {
		if entry.Action == "RegisterTargets" {
			b.Expect(entry.Outcome).NotTo(Equal(elbsim.OutcomeOK))
			continue
		}
		b.Expect(entry.Action).To(HavePrefix("Describe"))
	}
}

func (b *bench) items(t *testing.T) []map[string]types.AttributeValue {
	out, err := b.table.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &b.table.Name})
	b.Expect(err).NotTo(HaveOccurred())
	return out.Items
}
