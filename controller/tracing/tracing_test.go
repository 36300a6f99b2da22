package tracing_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"target-ownership-controller/controller/tracing"
)

// onePass is what a pass does to its trace.
func onePass(ctx context.Context, tracer trace.Tracer, err error) {
	ctx, pass := tracing.Root(ctx, tracer, "pass")
	stepCtx, step := tracing.Begin(ctx, "apply")
	_, call := tracing.BeginCall(stepCtx, "DynamoDB", "Query")
	tracing.End(call, err)
	tracing.End(step, err)
	tracing.End(pass, err)
}

func TestSpansStandBelowEachOther(t *testing.T) {
	g := NewWithT(t)
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	onePass(t.Context(), provider.Tracer(tracing.Scope), errors.New("boom"))

	spans := recorder.Ended()
	g.Expect(spans).To(HaveLen(3))
	call, step, pass := spans[0], spans[1], spans[2]
	g.Expect([]string{pass.Name(), step.Name(), call.Name()}).To(Equal([]string{"pass", "apply", "DynamoDB.Query"}))
	g.Expect(pass.Parent().IsValid()).To(BeFalse())
	g.Expect(step.Parent().SpanID()).To(Equal(pass.SpanContext().SpanID()))
	g.Expect(call.Parent().SpanID()).To(Equal(step.SpanContext().SpanID()))
	g.Expect(call.SpanKind()).To(Equal(trace.SpanKindClient))
	for _, span := range spans {
		g.Expect(span.Status()).To(Equal(sdktrace.Status{Code: codes.Error, Description: "boom"}))
	}
}

// A call that no pass makes, such as that of a heartbeat, has no trace.
func TestNoSpanStandsAlone(t *testing.T) {
	g := NewWithT(t)
	ctx, span := tracing.BeginCall(t.Context(), "DynamoDB", "PutItem")
	g.Expect(span.IsRecording()).To(BeFalse())
	g.Expect(trace.SpanFromContext(ctx).SpanContext().IsValid()).To(BeFalse())
}

func TestWithoutTracesThereIsNoCost(t *testing.T) {
	g := NewWithT(t)
	ctx, err := t.Context(), errors.New("boom")
	g.Expect(testing.AllocsPerRun(100, func() { onePass(ctx, nil, err) })).To(BeZero())
}

// Of a pass that is not among those to be traced, only the root costs.
func TestBelowAnUntracedPassThereIsNoCost(t *testing.T) {
	g := NewWithT(t)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	ctx, pass := tracing.Root(t.Context(), provider.Tracer(tracing.Scope), "pass")
	g.Expect(pass.SpanContext().IsValid()).To(BeTrue())
	err := errors.New("boom")
	g.Expect(testing.AllocsPerRun(100, func() {
		step, span := tracing.Begin(ctx, "apply")
		_, call := tracing.BeginCall(step, "DynamoDB", "Query")
		tracing.End(call, err)
		tracing.End(span, err)
	})).To(BeZero())
}
