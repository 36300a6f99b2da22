package binding

import (
	"slices"
	"strconv"
	"testing"
	"time"

	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"
	testclock "k8s.io/utils/clock/testing"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/table"
)

// world is what clusters share: a target group, the ownership table, time.
type world struct {
	*WithT
	t     *testing.T
	clock *testclock.FakePassiveClock
	sim   *elbsim.Simulator
	group elbsim.Group
	table *table.Table
	store *dynamo.Table // for the test itself
}

// newWorld has an empty group of IP targets and an empty table. Tests run in
// parallel: no two worlds have anything in common but API servers.
func newWorld(t *testing.T, groups ...elbsim.Group) *world {
	t.Helper()
	t.Parallel()
	return newWorldInTurn(t, groups...)
}

// newWorldInTurn is for a test that does not run in parallel with others.
func newWorldInTurn(t *testing.T, groups ...elbsim.Group) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, clock: testclock.NewFakePassiveClock(time.Now())}
	w.sim = elbsim.New(elbsim.Options{Now: w.clock.Now})
	_, err := w.sim.Start()
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(w.sim.Close)
	w.table = table.Kumo.Start(t)
	w.store = dynamo.New(w.table.Client, w.table.Name, dynamo.Options{})
	for _, g := range append(groups, elbsim.Group{})[:max(1, len(groups))] {
		w.group = w.creates(g)
	}
	return w
}

// creates makes a target group; what is not given is that of a group of IP
// targets of a network load balancer.
func (w *world) creates(g elbsim.Group) elbsim.Group {
	w.t.Helper()
	fill := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	fill(&g.Name, "web")
	fill(&g.Protocol, "TCP")
	fill(&g.TargetType, elbsim.TargetTypeIP)
	fill(&g.VPCID, "vpc-0123456789abcdef0")
	if g.Port == 0 {
		g.Port = 80
	}
	created, err := w.sim.CreateGroup(g)
	w.Expect(err).NotTo(HaveOccurred())
	return created
}

// passes lets time pass.
func (w *world) passes(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// somebody registers targets that no controller knows of.
func (w *world) somebodyRegisters(targets ...string) {
	w.t.Helper()
	w.Expect(w.byHand("RegisterTargets", targets)).To(Succeed())
}

func (w *world) somebodyDeregisters(targets ...string) {
	w.t.Helper()
	w.Expect(w.byHand("DeregisterTargets", targets)).To(Succeed())
}

// expectGroup is about the targets that are in the group and not draining.
func (w *world) expectGroup(targets ...string) {
	w.t.Helper()
	w.Expect(w.sim.Registered(w.group.ARN)).To(ConsistOf(anys(targets)...))
}

// records are those of the group, by owner.
func (w *world) records() map[string]ownership.Record {
	w.t.Helper()
	read, err := w.store.Records(w.t.Context(), ownership.GroupARN(w.group.ARN))
	w.Expect(err).NotTo(HaveOccurred())
	records := map[string]ownership.Record{}
	for _, r := range read.Records {
		records[r.Owner.String()] = r
	}
	return records
}

func anys[T any](list []T) []any {
	all := make([]any, len(list))
	for i, item := range list {
		all[i] = item
	}
	return all
}

func keys[V any](entries map[ownership.Target]V) []string {
	list := []string{}
	for t := range entries {
		list = append(list, string(t))
	}
	slices.Sort(list)
	return list
}

// byHand makes a call as a person would.
func (w *world) byHand(action string, targets []string) error {
	var descriptions []types.TargetDescription
	for _, key := range targets {
		t, err := elbsim.ParseTarget(key)
		if err != nil {
			return err
		}
		descriptions = append(descriptions, types.TargetDescription{Id: &t.ID, Port: &t.Port})
	}
	var err error
	if client := w.sim.Client("somebody"); action == "RegisterTargets" {
		_, err = client.RegisterTargets(w.t.Context(), &elbv2.RegisterTargetsInput{TargetGroupArn: &w.group.ARN, Targets: descriptions})
	} else {
		_, err = client.DeregisterTargets(w.t.Context(), &elbv2.DeregisterTargetsInput{TargetGroupArn: &w.group.ARN, Targets: descriptions})
	}
	return err
}

func itemKey(group, owner string) map[string]dynamotypes.AttributeValue {
	return map[string]dynamotypes.AttributeValue{
		dynamo.AttrTargetGroup: &dynamotypes.AttributeValueMemberS{Value: group},
		dynamo.AttrOwner:       &dynamotypes.AttributeValueMemberS{Value: owner},
	}
}

func number(name string, n int) map[string]dynamotypes.AttributeValue {
	return map[string]dynamotypes.AttributeValue{name: &dynamotypes.AttributeValueMemberN{Value: strconv.Itoa(n)}}
}
