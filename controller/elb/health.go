package elb

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
)

// State is what the load balancer says of a target.
type State string

// The states of a target
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetHealth.html).
const (
	Initial     State = "initial"
	Healthy     State = "healthy"
	Unhealthy   State = "unhealthy"
	Draining    State = "draining" // deregistered; its connections end
	Unused      State = "unused"   // registered, but gets no traffic
	Unavailable State = "unavailable"
)

// Health is what the load balancer says of a target, and why. Both texts are
// empty for a healthy one.
type Health struct {
	State       State
	Reason      string // such as Target.Timeout
	Description string
}

// WrongTargetTypeError says that a group holds targets that are neither IP
// addresses nor instances, but a Lambda function or a load balancer.
type WrongTargetTypeError struct {
	Group  ownership.GroupARN
	Target string // ID of the target
}

func (e *WrongTargetTypeError) Error() string {
	return fmt.Sprintf("target group %s holds %s: only target types ip and instance can be bound to a service", e.Group.Name(), e.Target)
}

// Health is [Client.Targets], without the reasons.
func (c *Client) Health(ctx context.Context, group ownership.GroupARN) (map[ownership.Target]State, error) {
	targets, err := c.Targets(ctx, group)
	if err != nil {
		return nil, err
	}
	states := make(map[ownership.Target]State, len(targets))
	for t, h := range targets {
		states[t] = h.State
	}
	return states, nil
}

// Targets lists all targets of the group, draining ones included. The map is
// empty for an empty group. DescribeTargetHealth has no pages, so that an
// answer is a complete listing
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_DescribeTargetHealth.html).
//
// Errors are those of [Client.Group] and [WrongTargetTypeError].
func (c *Client) Targets(ctx context.Context, group ownership.GroupARN) (map[ownership.Target]Health, error) {
	if err := c.check(group); err != nil {
		return nil, err
	}
	input := &elbv2.DescribeTargetHealthInput{TargetGroupArn: aws.String(string(group))}
	var out *elbv2.DescribeTargetHealthOutput
	err := c.read(ctx, func(ctx context.Context, options ...func(*elbv2.Options)) (err error) {
		out, err = c.api.DescribeTargetHealth(ctx, input, options...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the targets of %s: %w", group.Name(), ofGroup(err))
	}
	targets := make(map[ownership.Target]Health, len(out.TargetHealthDescriptions))
	for _, d := range out.TargetHealthDescriptions {
		if d.Target == nil {
			return nil, fmt.Errorf("list the targets of %s: %w: the answer has a target without a name", group.Name(), ownership.ErrGroupUnavailable)
		}
		target, err := ownership.NewTarget(aws.ToString(d.Target.Id), int(aws.ToInt32(d.Target.Port)))
		if err != nil {
			return nil, &WrongTargetTypeError{Group: group, Target: aws.ToString(d.Target.Id)}
		}
		c.outside.learn(group, *d.Target)
		targets[target] = healthOf(d.TargetHealth)
	}
	return targets, nil
}

func healthOf(h *types.TargetHealth) Health {
	if h == nil {
		return Health{State: Unavailable}
	}
	return Health{stateOf(h), string(h.Reason), aws.ToString(h.Description)}
}

// stateOf takes a state that we do not know as unavailable: the target is
// there, and that is all we can say.
func stateOf(h *types.TargetHealth) State {
	switch h.State {
	case types.TargetHealthStateEnumUnhealthyDraining:
		return Unhealthy // still registered, its connections are being closed
	case types.TargetHealthStateEnumInitial, types.TargetHealthStateEnumHealthy, types.TargetHealthStateEnumUnhealthy,
		types.TargetHealthStateEnumDraining, types.TargetHealthStateEnumUnused:
		return State(h.State)
	default:
		return Unavailable
	}
}
