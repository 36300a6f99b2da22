// Package tracing makes a trace of each pass: a span of the pass, below it one
// of each step, and below that one of each AWS call. Where nothing is traced it
// costs next to nothing.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Scope names who made the spans.
const Scope = "target-ownership-controller"

// none takes everything and keeps nothing.
var none trace.Span = noop.Span{}

// Root begins a trace, unless ctx has a span already: then the new one is below
// it. A nil tracer traces nothing.
func Root(ctx context.Context, tracer trace.Tracer, name string) (context.Context, trace.Span) {
	if tracer == nil {
		return ctx, none
	}
	return tracer.Start(ctx, name)
}

// Begin begins a span below that of ctx. Where that one is not recorded, there
// is none.
func Begin(ctx context.Context, name string) (context.Context, trace.Span) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, none
	}
	return above.TracerProvider().Tracer(Scope).Start(ctx, name)
}

// BeginCall is Begin for an AWS call, by the conventions of OpenTelemetry
// (https://opentelemetry.io/docs/specs/semconv/cloud-providers/aws-sdk/).
func BeginCall(ctx context.Context, service, operation string) (context.Context, trace.Span) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, none
	}
	return above.TracerProvider().Tracer(Scope).Start(ctx, service+"."+operation,
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(
			attribute.String("rpc.system", "aws-api"),
			attribute.String("rpc.service", service),
			attribute.String("rpc.method", operation),
		))
}

// End ends a span and says whether what it stands for failed.
func End(span trace.Span, err error) {
	if err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
