// Package targetctl_test runs targetctl over the real SDK, against a DynamoDB
// engine and the simulator of the load balancer.
package targetctl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/targetctl/cli"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/table"
)

// bench is a table and a load balancer, with one group.
type bench struct {
	*WithT
	table *table.Table
	store *dynamo.Table
	sim   *elbsim.Simulator
	group ownership.GroupARN

	name, endpoint string // of the table, for the command
}

func start(t *testing.T) *bench {
	g := NewWithT(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	b := &bench{WithT: g, table: table.Kumo.Start(t), sim: elbsim.New(elbsim.Options{Region: table.Region})}
	b.name, b.endpoint = b.table.Name, b.table.Endpoint
	b.store = dynamo.New(b.table.Client, b.table.Name, dynamo.Options{})
	_, err := b.sim.Start()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(b.sim.Close)
	group, err := b.sim.CreateGroup(elbsim.Group{Name: "blue", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: "ip"})
	g.Expect(err).NotTo(HaveOccurred())
	b.group = ownership.GroupARN(group.ARN)
	return b
}

// cluster has its claims carried out by a pass, as its controller does.
func (b *bench) cluster(ctx context.Context, id string, want ...ownership.Target) {
	b.Expect(b.store.PutCluster(ctx, ownership.Cluster{
		ID: id, Fingerprint: "uid-" + id, State: ownership.ClusterActive, HeartbeatSeq: 1, HeartbeatAt: time.Now(),
		Revision: ownership.Revision{Version: 1, WriteID: id}, ControllerVersion: "v1.2.3",
	}, ownership.Revision{})).To(Succeed())
	writes := 0
	ledger := ownership.NewLedger(b.store, ownership.Identity{
		Group: b.group, Owner: ownership.Owner{Cluster: id, Namespace: "shop", Name: "web"}, BindingUID: "uid",
	}, ownership.Env{Now: time.Now, NewID: func() string { writes++; return id + strings.Repeat("+", writes) }})
	set := ownership.Set{}
	for _, t := range want {
		set[t] = true
	}
	p := pass.Pass{Ledger: ledger, Group: elb.New(b.sim.Client(id), elb.Options{}), Binding: plan.Binding{Want: set}, Now: time.Now}
	b.Expect(p.Run(ctx)).To(Succeed())
}

// run is one run of the command, which has to succeed.
func (b *bench) run(ctx context.Context, line ...string) string {
	code, out, errs := b.try(ctx, line...)
	b.Expect(code).To(BeZero(), errs)
	return out
}

// try is one run of the command.
func (b *bench) try(ctx context.Context, line ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	line = append([]string{"targetctl", "--region", table.Region, "--table", b.name,
		"--dynamodb-endpoint", b.endpoint, "--elbv2-endpoint", b.sim.URL()}, line...)
	code = cli.Run(ctx, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "test", line)
	return code, out.String(), errs.String()
}

// ages are what differs from run to run.
var ages = regexp.MustCompile(`\b[0-9]+s\b`)

func TestWhoOwnsWhat(t *testing.T) {
	b := start(t)
	b.cluster(t.Context(), "east", "10.0.0.1:80", "10.0.0.2:80")
	b.cluster(t.Context(), "west", "10.0.0.1:80")
	_, err := b.sim.Client("somebody").RegisterTargets(t.Context(), &elbv2.RegisterTargetsInput{
		TargetGroupArn: (*string)(&b.group), Targets: []types.TargetDescription{{Id: ptr("10.9.9.9"), Port: ptr(int32(80))}},
	})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.sim.SetHealth(string(b.group), "10.0.0.1:80", types.TargetHealthStateEnumHealthy)).To(Succeed())
	b.Expect(b.sim.SetHealth(string(b.group), "10.0.0.2:80", types.TargetHealthStateEnumUnhealthy)).To(Succeed())
	b.Expect(b.sim.SetHealth(string(b.group), "10.9.9.9:80", types.TargetHealthStateEnumHealthy)).To(Succeed())

	want := `
OWNER           CLUSTER STATE   HEARTBEAT   HELD   HEALTHY   RELEASING
east/shop/web   Active          AGE          2      1         0
west/shop/web   Active          AGE          1      1         0

TARGET        HEALTH      ENTRY   SINCE   OWNER
10.0.0.1:80   healthy     held    AGE      east/shop/web
10.0.0.2:80   unhealthy   held    AGE      east/shop/web
10.0.0.1:80   healthy     held    AGE      west/shop/web
10.9.9.9:80   healthy     -       -       external: no record names it
`
	if diff := cmp.Diff(want, "\n"+ages.ReplaceAllString(b.run(t.Context(), "owners", "blue"), "AGE")); diff != "" {
		t.Error(diff)
	}

	var owners admin.Owners
	b.Expect(json.Unmarshal([]byte(b.run(t.Context(), "owners", string(b.group), "-o", "json")), &owners)).To(Succeed())
	b.Expect(owners.TargetGroup).To(Equal(b.group))
	b.Expect(owners.Owners).To(HaveLen(2))
	b.Expect(owners.External).To(HaveLen(1))
	b.Expect(b.run(t.Context(), "clusters")).To(MatchRegexp(`(?m)^east +Active +v1.2.3 +\d+s +-$`))
	b.Expect(b.run(t.Context(), "cluster", "show", "east")).To(MatchRegexp(`(?m)^blue +east/shop/web +2 +0 +\d+s$`))
	b.Expect(b.run(t.Context(), "explain", "blue", "10.0.0.1:80")).To(ContainSubstring("if it lets the target go: drop (another owner holds it)"))
}

func TestDrain(t *testing.T) {
	b := start(t)
	b.cluster(t.Context(), "east", "10.0.0.1:80")
	code, _, errs := b.try(t.Context(), "cluster", "drain", "east", "--yes")
	b.Expect(code).To(Equal(1))
	b.Expect(errs).To(ContainSubstring("blue keeps 0 of 1"))

	b.run(t.Context(), "cluster", "drain", "east", "--yes", "--force")
	b.Expect(b.run(t.Context(), "clusters")).To(MatchRegexp(`(?m)^east +Drained `))
	b.run(t.Context(), "cluster", "undrain", "east", "--yes")
	b.Expect(b.run(t.Context(), "clusters")).To(MatchRegexp(`(?m)^east +Active `))
}

func TestTable(t *testing.T) {
	b := start(t)
	b.run(t.Context(), "table", "check")
	other := b.table.Name + "-other" // the last of two flags counts
	code, _, errs := b.try(t.Context(), "table", "check", "--table", other)
	b.Expect(code).To(Equal(1))
	b.Expect(errs).To(ContainSubstring("the table does not exist"))
	b.run(t.Context(), "table", "create", "--table", other, "--yes")
	b.run(t.Context(), "table", "check", "--table", other)
}

func ptr[T any](v T) *T { return &v }

// health is what the load balancer lists.
func (b *bench) health(ctx context.Context) (map[string]string, error) {
	states, err := elb.New(b.sim.Client("test"), elb.Options{}).Health(ctx, b.group)
	health := map[string]string{}
	for t, state := range states {
		health[string(t)] = string(state)
	}
	return health, err
}

func (b *bench) state(t *testing.T, id string) ownership.ClusterState {
	entry, err := b.store.Cluster(t.Context(), id)
	b.Expect(err).NotTo(HaveOccurred())
	return entry.State
}
