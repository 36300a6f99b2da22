package metrics

import (
	"context"
	"errors"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"target-ownership-controller/ownership/dynamo"
)

// TimeCalls makes a client observe the duration of each call. It goes into
// aws.Config.APIOptions.
func TimeCalls(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("TimeCalls", timeCall), middleware.After)
}

func timeCall(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	begun := time.Now()
	out, metadata, err := next.HandleInitialize(ctx, in)
	calls.WithLabelValues(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), purpose(ctx), outcome(err)).
		Observe(time.Since(begun).Seconds())
	return out, metadata, err
}

// purpose tells a call on which no target depends from the others.
func purpose(ctx context.Context) string {
	if dynamo.OfHistory(ctx) {
		return "history"
	}
	return "ownership"
}

// outcome is what to look up first: what AWS said, or why it said nothing. A
// call that was given up when the process ended is no trouble of AWS's.
func outcome(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &api):
		return api.ErrorCode()
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	default:
		return "failed"
	}
}
