// Package elb_test runs the ELBv2 client of the controller, over the real SDK
// client, against the simulator.
package elb_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/test/elbsim"
)

// fixture is a target group and a client for it.
type fixture struct {
	*WithT
	sim    *elbsim.Simulator
	group  ownership.GroupARN
	client *elb.Client
}

// start makes a group of the target type and with the quota. The SDK client
// has the retries that it has in production.
func start(t *testing.T, targetType string, quota int) fixture {
	t.Helper()
	g := NewWithT(t)
	sim := elbsim.New(elbsim.Options{Settings: elbsim.Settings{Quota: quota}})
	_, err := sim.Start()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(sim.Close)
	group, err := sim.CreateGroup(elbsim.Group{Name: "web", Protocol: "TCP", Port: 8080, VPCID: "vpc-1", TargetType: targetType})
	g.Expect(err).NotTo(HaveOccurred())
	api := sim.Client("cluster-a", func(o *elbv2.Options) { o.Retryer = retry.NewStandard() })
	return fixture{g, sim, ownership.GroupARN(group.ARN), elb.New(api, elb.Options{
		Limits: elb.Limits{Reads: elb.Limit{PerSecond: 100, Burst: 100}, Mutations: elb.Limit{PerSecond: 100, Burst: 100}},
	})}
}

// permits returns the permissions to register the first targets and to
// deregister the others.
func (f fixture) permits(in, out []ownership.Target) (ownership.Admission, ownership.Removal) {
	return f.permitsAt(time.Now, in, out)
}

func (f fixture) permitsAt(now func() time.Time, in, out []ownership.Target) (ownership.Admission, ownership.Removal) {
	ctx, writes := context.Background(), 0
	ledger := ownership.NewLedger(memory.New(),
		ownership.Identity{Group: f.group, Owner: ownership.Owner{Cluster: "a", Namespace: "default", Name: "web"}, BindingUID: "uid"},
		ownership.Env{Now: now, NewID: func() string { writes++; return strconv.Itoa(writes) }})
	f.Expect(ledger.Look(ctx)).To(Succeed())
	f.Expect(ledger.Flag(ctx, slices.Concat(in, out), nil)).To(Succeed())
	f.Expect(ledger.Flag(ctx, nil, out)).To(Succeed())
	f.Expect(ledger.Look(ctx)).To(Succeed())
	return ledger.Current().Admit(in), ledger.Current().Remove(out)
}

func (f fixture) register(targets ...ownership.Target) ownership.Result {
	admission, _ := f.permits(targets, nil)
	return f.client.Register(context.Background(), admission)
}

func (f fixture) deregister(targets ...ownership.Target) ownership.Result {
	_, removal := f.permits(nil, targets)
	return f.client.Deregister(context.Background(), removal)
}

// inGroup are the targets that are registered.
func (f fixture) inGroup() []ownership.Target {
	var targets []ownership.Target
	for _, key := range f.sim.Registered(string(f.group)) {
		targets = append(targets, ownership.Target(key))
	}
	return targets
}

// pods returns n targets in the order of their keys, none of which another
// network has.
func pods(network, n int) []ownership.Target {
	targets := make([]ownership.Target, n)
	for i := range targets {
		targets[i] = ownership.Target(fmt.Sprintf("10.%d.%d.%d:8080", network, i/250, i%250+1))
	}
	slices.Sort(targets)
	return targets
}
