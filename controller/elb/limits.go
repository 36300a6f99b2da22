package elb

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"golang.org/x/time/rate"

	"target-ownership-controller/controller/tracing"
	"target-ownership-controller/ownership"
)

// Limit is a token bucket of calls, retries included. Both numbers have to be
// above zero.
type Limit struct {
	PerSecond float64 // calls per second in the long run
	Burst     int     // calls at once
}

// Limits are the client's own request rates. Reads and mutations are limited
// apart, as AWS does it, so that a storm of listings holds up no removal.
type Limits struct {
	Reads     Limit // Describe calls
	Mutations Limit // RegisterTargets and DeregisterTargets together
}

// DefaultLimits is half of what AWS grants an account in a region: 40 Describe
// calls at once and 10 per second, 20 registrations and deregistrations at
// once and 4 per second. The other half is for the other clusters and tools
// of the account
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/userguide/elb-api-throttling.html).
//
// A start lists each binding's group, and describes the groups up to ten at a
// time with ten workers: 200 bindings of as many groups are about 230 reads,
// 42 s at these limits and 19 s at all of AWS's.
var DefaultLimits = Limits{
	Reads:     Limit{PerSecond: 5, Burst: 20},
	Mutations: Limit{PerSecond: 2, Burst: 10},
}

func (l Limits) withDefaults() Limits {
	if l.Reads == (Limit{}) {
		l.Reads = DefaultLimits.Reads
	}
	if l.Mutations == (Limit{}) {
		l.Mutations = DefaultLimits.Mutations
	}
	return l
}

// lane is what calls of one kind share: their rate and their retries.
type lane struct {
	limiter *rate.Limiter
	retryer aws.Retryer
}

func newLane(limit Limit, mayRepeat func(error) bool) lane {
	limiter := rate.NewLimiter(rate.Limit(limit.PerSecond), limit.Burst)
	return lane{limiter, newRetryer(limiter, mayRepeat)}
}

// configure makes an SDK operation use the retries of the lane.
func (l lane) configure(o *elbv2.Options) { o.Retryer = l.retryer }

// wait blocks until a call may be made.
func (l lane) wait(ctx context.Context, atMost time.Duration) error {
	return takeToken(ctx, l.limiter, atMost)
}

// takeToken waits for a token. If that would take longer than atMost, it
// takes none and fails at once with ErrGroupThrottled.
func takeToken(ctx context.Context, limiter *rate.Limiter, atMost time.Duration) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("call not made: %w", err)
	}
	token := limiter.Reserve()
	delay := token.Delay()
	if delay > atMost {
		token.Cancel()
		return fmt.Errorf("%w: our own rate limit has no room within %s", ownership.ErrGroupThrottled, atMost)
	}
	if delay == 0 {
		return nil
	}
	_, span := tracing.Begin(ctx, "rate limit") // else a trace has a hole here
	defer span.End()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		token.Cancel()
		return fmt.Errorf("call not made: %w", ctx.Err())
	}
}
