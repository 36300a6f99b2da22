package elb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
)

// Deregister takes the targets out of their group, in order. To deregister a
// target that is not in the group is no error. Errors of the result are those
// of [Client.Register].
//
// This is the only place that calls DeregisterTargets, and it takes a value
// that only the look of a release produces.
func (c *Client) Deregister(ctx context.Context, r ownership.Removal) ownership.Result {
	b := batch{client: c, group: r.Group(), left: r.Left}
	b.send = func(ctx context.Context, targets []types.TargetDescription, options ...func(*elbv2.Options)) error {
		_, err := c.api.DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{
			TargetGroupArn: aws.String(string(r.Group())),
			Targets:        targets,
		}, options...)
		return err
	}
	return b.run(ctx, r.Targets())
}
