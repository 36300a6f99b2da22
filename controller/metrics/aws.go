package metrics

import (
	"context"
	"errors"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"target-ownership-controller/controller/tracing"
	"target-ownership-controller/ownership/dynamo"
)

// TimeCalls makes a client observe the duration of each call, and makes the
// call a part of the trace that it belongs to, if any. It goes into
// aws.Config.APIOptions.
func TimeCalls(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("TimeCalls", timeCall), middleware.After)
}

func timeCall(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	begun := time.Now()
	service, operation := awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)
	ctx, span := tracing.BeginCall(ctx, service, operation)
	out, metadata, err := next.HandleInitialize(ctx, in)
	calls.WithLabelValues(service, operation, purpose(ctx), outcome(err)).Observe(time.Since(begun).Seconds())
	describe(span, metadata, err)
	tracing.End(span, err)
	return out, metadata, err
}

// describe says of a call what to ask AWS about, and what delayed it.
func describe(span trace.Span, metadata middleware.Metadata, err error) {
	if !span.IsRecording() {
		return
	}
	if id, ok := awsmiddleware.GetRequestIDMetadata(metadata); ok {
		span.SetAttributes(attribute.String("aws.request_id", id))
	}
	if attempts, ok := retry.GetAttemptResults(metadata); ok && len(attempts.Results) > 1 {
		span.SetAttributes(attribute.Int("http.request.resend_count", len(attempts.Results)-1))
	}
	if err != nil {
		span.SetAttributes(attribute.String("error.type", outcome(err)))
	}
}

// purpose tells calls on which no target depends, and those on which all do,
// from the others.
func purpose(ctx context.Context) string {
	switch {
	case dynamo.OfHistory(ctx):
		return "history"
	case dynamo.OfRegistry(ctx):
		return "registry"
	default:
		return "ownership"
	}
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
