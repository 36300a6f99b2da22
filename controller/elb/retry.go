package elb

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"golang.org/x/time/rate"

	"target-ownership-controller/ownership"
)

// retryer retries what the SDK would, if it may be repeated, and takes a
// token of the rate limit for each retry.
type retryer struct {
	*retry.Standard
	limiter *rate.Limiter
}

func newRetryer(limiter *rate.Limiter, mayRepeat func(error) bool) aws.RetryerV2 {
	veto := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
		_, noRole := errors.AsType[*RoleError](err) // which has its own pauses
		if mayRepeat(err) && !noRole {
			return aws.UnknownTernary // the SDK decides
		}
		return aws.FalseTernary
	})
	standard := retry.NewStandard(func(o *retry.StandardOptions) {
		o.Retryables = append([]retry.IsErrorRetryable{veto}, o.Retryables...)
	})
	return retryer{standard, limiter}
}

// GetRetryToken is called by the SDK before each retry.
func (r retryer) GetRetryToken(ctx context.Context, opErr error) (func(error) error, error) {
	left := ownership.CallBudget
	if deadline, ok := ctx.Deadline(); ok {
		left = -ownership.Elapsed(deadline, time.Now())
	}
	if err := takeToken(ctx, r.limiter, left); err != nil {
		return nil, err
	}
	return r.Standard.GetRetryToken(ctx, opErr)
}

func anyError(error) bool { return true }

// certainlyNotApplied is the condition for repeating a mutation. A second
// attempt after one in doubt would begin a new settle time, and a
// deregistration that is repeated late can undo what another owner did since.
func certainlyNotApplied(err error) bool { return classify(err).refused }
