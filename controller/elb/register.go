package elb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
)

// Register puts the targets into their group, in order. To register a target
// that is in the group is no error.
//
// Errors of the result wrap [ownership.ErrGroupFull],
// [ownership.ErrInvalidTarget], [ownership.ErrGroupMissing],
// [ownership.ErrGroupForbidden], [ownership.ErrGroupThrottled],
// [ownership.ErrGroupUnavailable], [ownership.ErrLookExpired],
// [ErrGroupInvalid] or [ErrGroupElsewhere], or are those of the context.
//
// No availability zone is sent: AWS detects the zone of an address in the
// group's VPC and requires zone "all" for one outside of it
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetDescription.html).
// Outside addresses are therefore refused as invalid targets. To support
// them, the client has to learn the CIDR blocks of the VPC and set
// AvailabilityZone here; nothing else changes, since the zone is no part of a
// target's key.
func (c *Client) Register(ctx context.Context, a ownership.Admission) ownership.Result {
	b := batch{client: c, group: a.Group(), left: a.Left}
	b.send = func(ctx context.Context, targets []types.TargetDescription, options ...func(*elbv2.Options)) error {
		_, err := c.api.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{
			TargetGroupArn: aws.String(string(a.Group())),
			Targets:        targets,
		}, options...)
		return err
	}
	return b.run(ctx, a.Targets())
}
