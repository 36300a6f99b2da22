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
// An address outside the VPC of the group is registered with zone all.
// [ErrCrossZoneOff] is the error of one that would need a zone of its own.
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
