package soak

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// somebody is the caller of what nobody records.
const somebody = "somebody"

// loadBalancer is the ELBv2 simulator with the one target group.
type loadBalancer struct {
	*elbsim.Simulator
	group elbsim.Group

	mu     sync.Mutex
	faults map[string]string // by caller: throttled or late
	lateBy map[string]time.Duration
}

func startLoadBalancer(external []string) (*loadBalancer, error) {
	lb := &loadBalancer{faults: map[string]string{}, lateBy: map[string]time.Duration{}}
	lb.Simulator = elbsim.New(elbsim.Options{
		Region: region, Intercept: lb.decide, Settings: elbsim.Settings{InitialFor: time.Second},
	})
	if _, err := lb.Start(); err != nil {
		return nil, err
	}
	var err error
	lb.group, err = lb.CreateGroup(elbsim.Group{
		Name: "web", Protocol: "HTTP", Port: kube.TargetPort, VPCID: "vpc-0123456789abcdef0", TargetType: elbsim.TargetTypeIP,
	})
	if err != nil {
		return nil, err
	}
	return lb, lb.putIn(external)
}

// putIn registers targets as a person would. The short drain keeps the group
// small.
func (lb *loadBalancer) putIn(external []string) error {
	ctx, client := context.Background(), lb.Client(somebody)
	_, err := client.ModifyTargetGroupAttributes(ctx, &elbv2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: aws.String(lb.group.ARN),
		Attributes:     []types.TargetGroupAttribute{{Key: aws.String("deregistration_delay.timeout_seconds"), Value: aws.String("2")}},
	})
	if err != nil {
		return err
	}
	targets, err := descriptions(external...)
	if err != nil {
		return err
	}
	_, err = client.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: aws.String(lb.group.ARN), Targets: targets})
	return err
}

// takeOut deregisters a target as a person would.
func (lb *loadBalancer) takeOut(ctx context.Context, target string) error {
	targets, err := descriptions(target)
	if err != nil {
		return err
	}
	_, err = lb.Client(somebody).DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{TargetGroupArn: aws.String(lb.group.ARN), Targets: targets})
	if err != nil {
		return fmt.Errorf("take %s out by hand: %w", target, err)
	}
	return nil
}

func descriptions(keys ...string) ([]types.TargetDescription, error) {
	var targets []types.TargetDescription
	for _, key := range keys {
		t, err := elbsim.ParseTarget(key)
		if err != nil {
			return nil, err
		}
		targets = append(targets, types.TargetDescription{Id: aws.String(t.ID), Port: aws.Int32(t.Port)})
	}
	return targets, nil
}

// disturb has the calls of a caller throttled or late; an empty kind is none.
// Late calls land within what docs/protocol assumes of calls that were given
// up.
func (lb *loadBalancer) disturb(caller, kind string, size float64) {
	lb.mu.Lock()
	defer lb.mu.Unlock()
	lb.faults[caller] = kind
	lb.lateBy[caller] = between(time.Second, 15*time.Second, size)
}

func (lb *loadBalancer) decide(call elbsim.Call) elbsim.Fault {
	lb.mu.Lock()
	defer lb.mu.Unlock()
	switch lb.faults[call.Caller] {
	case throttled:
		return elbsim.Fault{Refuse: elbsim.Throttled()}
	case late:
		if call.Action == actionRegister || call.Action == actionDeregister {
			return elbsim.Fault{Late: true, LateBy: lb.lateBy[call.Caller]}
		}
	}
	return elbsim.Fault{}
}

// registered are the targets that are in the group.
func (lb *loadBalancer) registered() []string { return lb.Registered(lb.group.ARN) }

const (
	actionRegister   = "RegisterTargets"
	actionDeregister = "DeregisterTargets"
)
