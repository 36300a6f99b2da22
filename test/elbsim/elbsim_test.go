package elbsim_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"
	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

// clock is the injected time.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a started simulator with one IP group on port 80.
type bench struct {
	*elbsim.Simulator
	*WithT
	clock *clock
	arn   string
	elb   *elbv2.Client
}

func newBench(t *testing.T, changes ...func(*elbsim.Group)) *bench {
	t.Helper()
	g := NewWithT(t)
	c := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	sim := elbsim.New(elbsim.Options{Now: c.Now, Seed: 1})
	_, err := sim.Start()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(sim.Close)
	group := elbsim.Group{Name: "web", Protocol: "HTTP", Port: 80, VPCID: "vpc-1", TargetType: "ip"}
	for _, change := range changes {
		change(&group)
	}
	created, err := sim.CreateGroup(group)
	g.Expect(err).NotTo(HaveOccurred())
	return &bench{Simulator: sim, WithT: g, clock: c, arn: created.ARN, elb: sim.Client("cluster-a")}
}

func instances(g *elbsim.Group) { g.TargetType = elbsim.TargetTypeInstance }

func (b *bench) register(keys ...string) error {
	_, err := b.elb.RegisterTargets(context.Background(), &elbv2.RegisterTargetsInput{
		TargetGroupArn: &b.arn, Targets: descriptions(keys...),
	})
	return err
}

func (b *bench) deregister(keys ...string) error {
	_, err := b.elb.DeregisterTargets(context.Background(), &elbv2.DeregisterTargetsInput{
		TargetGroupArn: &b.arn, Targets: descriptions(keys...),
	})
	return err
}

// health reads the states over the wire, by key: of the given targets, or of all.
func (b *bench) health(keys ...string) map[string]string {
	out, err := b.elb.DescribeTargetHealth(context.Background(), &elbv2.DescribeTargetHealthInput{
		TargetGroupArn: &b.arn, Targets: descriptions(keys...),
	})
	b.Expect(err).NotTo(HaveOccurred())
	states := map[string]string{}
	for _, d := range out.TargetHealthDescriptions {
		target := elbsim.Target{ID: aws.ToString(d.Target.Id), Port: aws.ToInt32(d.Target.Port)}
		states[target.Key()] = string(d.TargetHealth.State)
		if d.TargetHealth.Reason != "" {
			states[target.Key()] += " " + string(d.TargetHealth.Reason)
		}
	}
	return states
}

func (b *bench) setDelay(seconds string) {
	_, err := b.elb.ModifyTargetGroupAttributes(context.Background(), delayInput(b.arn, seconds))
	b.Expect(err).NotTo(HaveOccurred())
}

func delayInput(arn, seconds string) *elbv2.ModifyTargetGroupAttributesInput {
	return &elbv2.ModifyTargetGroupAttributesInput{TargetGroupArn: &arn, Attributes: []types.TargetGroupAttribute{
		{Key: aws.String("deregistration_delay.timeout_seconds"), Value: &seconds},
	}}
}

func descriptions(keys ...string) []types.TargetDescription {
	var all []types.TargetDescription
	for _, key := range keys {
		target, err := elbsim.ParseTarget(key)
		if err != nil {
			panic(err) // a typing error in a test
		}
		all = append(all, types.TargetDescription{Id: &target.ID, Port: &target.Port})
	}
	return all
}

// noAnswer stands for anything but an answer of AWS: a reset, say, or no XML.
const noAnswer = "no answer"

// code is the AWS error code, empty for success.
func code(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return noAnswer
}
