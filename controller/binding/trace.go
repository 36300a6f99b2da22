package binding

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/tracing"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// trace begins the trace of what is done for a binding. Where it is recorded,
// each line of the log has its ID.
func (r *Reconciler) trace(ctx context.Context, name string, binding client.ObjectKey) (context.Context, trace.Span) {
	ctx, span := tracing.Root(ctx, r.Tracer, name)
	if !span.IsRecording() {
		return ctx, span
	}
	span.SetAttributes(
		attribute.String("target_ownership.cluster_id", r.ClusterID),
		attribute.String("target_ownership.binding.kind", r.Kind.Name),
		attribute.String("k8s.namespace.name", binding.Namespace),
		attribute.String("target_ownership.binding.name", binding.Name),
	)
	traced := log.FromContext(ctx).WithValues("trace_id", span.SpanContext().TraceID().String())
	return log.IntoContext(ctx, traced), span
}

// endTrace says on the span of a pass what it came to.
func (b *round) endTrace(span trace.Span, failed error) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("target_ownership.outcome", string(b.outcome)),
		attribute.Int("target_ownership.targets.wanted", len(b.want)),
		attribute.Int("target_ownership.targets.registered", len(b.report.Registered)),
		attribute.Int("target_ownership.targets.deregistered", len(b.report.Deregistered)),
		attribute.Int("target_ownership.targets.repaired", len(b.missing)),
		attribute.Int("target_ownership.targets.blocked", b.report.Plan.Count(plan.Wait, plan.BlockedByOther)),
	)
	if b.state != nil {
		span.SetAttributes(groupAttribute(b.state.group.ARN))
	}
	tracing.End(span, errors.Join(b.err, failed))
}

// endOrphanTrace ends the trace of a record that may have been an orphan. That
// a binding stands for it is no failure.
func endOrphanTrace(span trace.Span, key ownership.Key, failed error) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(groupAttribute(key.Group))
	if errors.Is(failed, errStands) {
		failed = nil
	}
	tracing.End(span, failed)
}

func groupAttribute(group ownership.GroupARN) attribute.KeyValue {
	return attribute.String("target_ownership.target_group", string(group))
}
