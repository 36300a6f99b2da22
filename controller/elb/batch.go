package elb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
)

// chunkSize is the number of targets in one call, for both directions. The
// API reference names no maximum, but ELB is known to reject large calls when
// it is under load (https://github.com/kubernetes/kubernetes/pull/101592); 200
// is what the AWS Load Balancer Controller has sent for years.
const chunkSize = 200

// batch is one registration or deregistration: all calls under one permit.
type batch struct {
	client *Client
	group  ownership.GroupARN
	left   func(time.Time) time.Duration // of the permit
	send   func(context.Context, []types.TargetDescription, ...func(*elbv2.Options)) error

	result  ownership.Result
	refused int   // calls for some target in them
	ended   error // why the remaining targets are not sent
}

// maxRefused is the number of refused calls after which a batch leaves its
// other targets for later. Were it to find all the bad ones of a large group
// at once, the calls of everybody else would wait for it at the rate limit.
// It is enough to single some out: 8 halvings lead from chunkSize to one.
const maxRefused = 16

func (b *batch) run(ctx context.Context, targets []ownership.Target) ownership.Result {
	b.result.Refused = map[ownership.Target]error{}
	b.result.Unsure = map[ownership.Target]error{}
	b.ended = b.client.check(b.group)
	for chunk := range slices.Chunk(targets, chunkSize) {
		b.apply(ctx, chunk)
	}
	return b.result
}

// apply sends the targets and sorts them into the result. AWS refuses a call
// as a whole for one bad target, or for one target too many, so a refused
// chunk is sent again in halves, the first half first: with n targets of
// which some are bad that takes about 2*bad*log2(n/bad) more calls, and into
// a group with little room the first targets enter.
func (b *batch) apply(ctx context.Context, targets []ownership.Target) {
	if b.ended != nil {
		put(b.result.Refused, targets, b.ended)
		return
	}
	failed, err := b.try(ctx, targets)
	switch {
	case err != nil: // not sent
		b.ended = err
		put(b.result.Refused, targets, err)
	case failed == nil:
		b.result.Done = append(b.result.Done, targets...)
	case !failed.refused:
		b.ended = fmt.Errorf("not sent after a call of which nothing is known: %w", failed)
		put(b.result.Unsure, targets, failed)
	case failed.ofSomeTarget() && len(targets) > 1:
		if b.refused++; b.refused > maxRefused {
			b.ended = ownership.ErrNotTried
		}
		half := len(targets) / 2
		b.apply(ctx, targets[:half])
		b.apply(ctx, targets[half:])
	case errors.Is(failed.class, ownership.ErrInvalidTarget):
		put(b.result.Refused, targets, failed)
	default: // what befell these will befall the others
		b.ended = failed
		put(b.result.Refused, targets, failed)
	}
}

// ofSomeTarget reports whether fewer targets could have gone through.
func (f *failure) ofSomeTarget() bool {
	return errors.Is(f.class, ownership.ErrInvalidTarget) || errors.Is(f.class, ownership.ErrGroupFull)
}

// try sends the targets with the zones that are known of them, and once more
// with the others if AWS refuses these. Nothing of a refused call was applied.
func (b *batch) try(ctx context.Context, targets []ownership.Target) (*failure, error) {
	described := b.client.outside.describe(b.group, targets)
	failed, err := b.call(ctx, described)
	if failed.ofZone() {
		otherZone(described)
		failed, err = b.call(ctx, described)
	}
	if failed == nil && err == nil {
		b.client.outside.learn(b.group, described...)
	}
	return failed, err
}

// call sends the targets if that can begin before the deadline; else it
// returns the reason.
func (b *batch) call(ctx context.Context, targets []types.TargetDescription) (*failure, error) {
	if err := b.admit(ctx); err != nil {
		return nil, err
	}
	return b.client.call(ctx, b.client.mutations, func(ctx context.Context, options ...func(*elbv2.Options)) error {
		return b.send(ctx, targets, options...)
	}), nil
}

// admit waits for the rate limit. The deadline has to hold after it, at the
// moment of sending.
func (b *batch) admit(ctx context.Context) error {
	left := b.left(b.client.options.Now())
	if left < 0 {
		return ownership.ErrLookExpired
	}
	switch err := b.client.mutations.wait(ctx, left); {
	case errors.Is(err, ownership.ErrGroupThrottled):
		return fmt.Errorf("%w: our own rate limit had no room before", ownership.ErrLookExpired)
	case err != nil:
		return err
	case b.left(b.client.options.Now()) < 0:
		return ownership.ErrLookExpired
	}
	return nil
}

func put(outcomes map[ownership.Target]error, targets []ownership.Target, err error) {
	for _, t := range targets {
		outcomes[t] = err
	}
}
