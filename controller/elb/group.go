package elb

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/awserror"
)

// GroupRef names a target group by its ARN or by its name, exactly one of
// them.
type GroupRef struct {
	ARN  string
	Name string
}

func (r GroupRef) String() string {
	if r.ARN != "" {
		return r.ARN
	}
	return r.Name
}

// Group is what does not change about a target group as long as it exists.
type Group struct {
	ARN           ownership.GroupARN
	Name          string
	TargetType    string // instance, ip, lambda or alb
	Protocol      string // empty for lambda
	IPAddressType string // ipv4 or ipv6
	VPCID         string // empty for lambda
}

// Group looks the target group up. A reference that cannot be right never
// reaches AWS.
//
// Errors wrap [ownership.ErrGroupMissing], [ownership.ErrGroupForbidden],
// [ownership.ErrGroupThrottled] or [ownership.ErrGroupUnavailable],
// [ErrGroupInvalid] or [ErrGroupElsewhere], or are those of the context.
func (c *Client) Group(ctx context.Context, ref GroupRef) (Group, error) {
	if err := c.checkRef(ref); err != nil {
		return Group{}, err
	}
	described, err := c.describe(ctx, ref)
	if err != nil {
		return Group{}, fmt.Errorf("look up target group %s: %w", ref, ofGroup(err))
	}
	return newGroup(described)
}

// ofGroup turns the refusal of a parameter into one of the group, which is
// the only parameter of a read.
func ofGroup(err error) error {
	if errors.Is(err, ownership.ErrInvalidTarget) {
		return fmt.Errorf("%w: %s", ErrGroupInvalid, awserror.Text(err))
	}
	return err
}

func newGroup(g types.TargetGroup) (Group, error) {
	arn, err := ownership.ParseGroupARN(aws.ToString(g.TargetGroupArn))
	if err != nil {
		return Group{}, fmt.Errorf("%w: answer about target group %s: %w",
			ownership.ErrGroupUnavailable, aws.ToString(g.TargetGroupName), err)
	}
	return Group{
		ARN:           arn,
		Name:          aws.ToString(g.TargetGroupName),
		TargetType:    string(g.TargetType),
		Protocol:      string(g.Protocol),
		IPAddressType: string(g.IpAddressType),
		VPCID:         aws.ToString(g.VpcId),
	}, nil
}

// groupName: up to 32 letters, digits and hyphens, no hyphen at either end
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateTargetGroup.html).
var groupName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$`)

// IsGroupName reports whether a target group can have the name.
func IsGroupName(s string) bool { return groupName.MatchString(s) }

func (c *Client) checkRef(ref GroupRef) error {
	switch {
	case (ref.ARN == "") == (ref.Name == ""):
		return fmt.Errorf("%w: give exactly one of ARN and name", ErrGroupInvalid)
	case ref.ARN != "":
		return c.check(ownership.GroupARN(ref.ARN))
	case !IsGroupName(ref.Name):
		return fmt.Errorf("%w: the name %q has to be 1 to 32 letters, digits or hyphens, with no hyphen at either end",
			ErrGroupInvalid, ref.Name)
	}
	return nil
}

// check refuses an ARN that no call of this client can be about.
func (c *Client) check(group ownership.GroupARN) error {
	arn, err := ownership.ParseGroupARN(string(group))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrGroupInvalid, err)
	case c.options.Region != "" && arn.Region() != c.options.Region:
		return fmt.Errorf("%w: %s is in region %s, not in %s; bind it with a controller of that region", ErrGroupElsewhere, arn, arn.Region(), c.options.Region)
	case c.options.Account == "" || arn.Account() == c.options.Account:
		return nil
	case c.options.Role.ARN == "":
		return fmt.Errorf("%w: %s is in account %s, the credentials are of %s; let spec.iamRoleArnToAssume name a role of that account", ErrGroupElsewhere, arn, arn.Account(), c.options.Account)
	default:
		return fmt.Errorf("%w: %s is in account %s, and the role %s of spec.iamRoleArnToAssume in %s; name a role of the group's account", ErrGroupElsewhere, arn, arn.Account(), c.options.Role.ARN, c.options.Account)
	}
}
