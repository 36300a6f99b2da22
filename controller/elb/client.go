// Package elb is the narrow client of Elastic Load Balancing v2 that a
// controller of shared target groups needs: what a group is, what is in it,
// and putting targets in and taking them out.
//
// It adds to the SDK client what the ownership protocol asks of a mutation:
// nothing is sent without a permission of a look, nor after the permission
// has expired; one call has [ownership.CallBudget], retries included; and each
// target ends up as done, certainly refused, or unsure. It sends targets in
// chunks, finds the single bad target of a refused chunk, and keeps one
// cluster from using up the request rate of the account.
package elb

import (
	"context"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"target-ownership-controller/ownership"
)

// API is the part of the SDK client that is used. [elbv2.Client] implements
// it.
type API interface {
	DescribeTargetGroups(context.Context, *elbv2.DescribeTargetGroupsInput, ...func(*elbv2.Options)) (*elbv2.DescribeTargetGroupsOutput, error)
	DescribeTargetHealth(context.Context, *elbv2.DescribeTargetHealthInput, ...func(*elbv2.Options)) (*elbv2.DescribeTargetHealthOutput, error)
	DescribeTags(context.Context, *elbv2.DescribeTagsInput, ...func(*elbv2.Options)) (*elbv2.DescribeTagsOutput, error)
	RegisterTargets(context.Context, *elbv2.RegisterTargetsInput, ...func(*elbv2.Options)) (*elbv2.RegisterTargetsOutput, error)
	DeregisterTargets(context.Context, *elbv2.DeregisterTargetsInput, ...func(*elbv2.Options)) (*elbv2.DeregisterTargetsOutput, error)
}

// Options of a client. The zero value is a working choice.
type Options struct {
	// Limits bound the calls of this client, all bindings together. A zero
	// limit is the one of DefaultLimits.
	Limits Limits

	// Now is the clock that deadlines of permissions are read on, the same
	// that the ledger has; time.Now if nil.
	Now func() time.Time

	// Region and Account are those the API answers for. A group ARN that
	// names others is refused with ErrGroupElsewhere, without a call. Empty
	// ones are not compared.
	Region, Account string
	// Role is the one that the API is used with, for messages.
	Role Role
}

// Client is safe for concurrent use. Make one for each account and region,
// and share it among all bindings: AWS counts requests by account and region.
type Client struct {
	api     API
	options Options
	lanes
	outside outsiders
	expired func() // forgets the credentials; nil for those that cannot be renewed

	byARN, byName lookups
	tags          tagsRead
}

// lanes are the rate limits of an account.
type lanes struct{ reads, mutations lane }

func newLanes(limits Limits) lanes {
	limits = limits.withDefaults()
	return lanes{
		reads:     newLane(limits.Reads, anyError),
		mutations: newLane(limits.Mutations, certainlyNotApplied),
	}
}

// New returns a client that makes its calls through the API. The retry
// settings of the API are not used: reads are retried as the SDK does by
// default, mutations only after attempts that were certainly not applied.
func New(api API, options Options) *Client {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Client{api: api, options: options, lanes: newLanes(options.Limits), outside: newOutsiders(), tags: newTagsRead()}
}

// send makes one call within the budget of a call.
type send func(context.Context, ...func(*elbv2.Options)) error

// call makes one call to the API and returns its failure, if any. The caller
// has waited for the lane.
func (c *Client) call(ctx context.Context, l lane, send send) *failure {
	ctx, cancel := context.WithTimeout(ctx, ownership.CallBudget)
	defer cancel()
	failed := classify(send(ctx, l.configure))
	if c.expired != nil && failed.sessionOver() {
		c.expired() // whatever its end was said to be: the next call has another
	}
	return failed
}

// read waits for its turn, for the budget of a call at most, and calls.
func (c *Client) read(ctx context.Context, send send) error {
	if err := c.reads.wait(ctx, ownership.CallBudget); err != nil {
		return err
	}
	if failed := c.call(ctx, c.reads, send); failed != nil {
		return failed
	}
	return nil
}
