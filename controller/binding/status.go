package binding

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
)

// status says on the binding what the pass came to. It writes nothing when
// nothing has changed.
func (r *Reconciler) status(ctx context.Context, b *round, err error) error {
	before := b.object.DeepCopyObject().(client.Object)
	b.Status.ObservedGeneration = b.Generation
	if b.state != nil {
		b.Status.TargetGroupARN = string(b.state.group.ARN)
	}
	if err == nil {
		b.Status.Targets = b.counts()
	}
	ready, consistent := verdicts(b, err)
	r.tellGates(b, err, ready)
	b.setCondition(v1beta1.ConditionReady, ready)
	b.setCondition(v1beta1.ConditionOwnershipConsistent, consistent)
	r.reportTransition(b, r.Kind.Binding(before), ready)
	b.comesTo(ready.reason, err)
	r.metricsOf(client.ObjectKeyFromObject(b)).Set(r.gauges(b, err, ready))
	return r.writeStatus(ctx, b, before)
}

// writeStatus writes nothing that the API server knows already, or has
// dropped before: an older CRD lacks some of our fields, and to write them
// again would not end.
func (r *Reconciler) writeStatus(ctx context.Context, b *round, before client.Object) error {
	if equality.Semantic.DeepEqual(b.undropped(r.Kind.Binding(before).Status), b.Status) {
		return nil
	}
	written := b.Status.DeepCopy()
	if err := r.Client.Status().Patch(ctx, b.object, client.MergeFrom(before)); err != nil {
		return client.IgnoreNotFound(err)
	}
	if b.state != nil {
		b.state.reported = written
	}
	return nil
}

// undropped is the status with the fields that are empty now, and were not
// when we wrote it.
func (b *round) undropped(status v1beta1.TargetGroupBindingStatus) v1beta1.TargetGroupBindingStatus {
	if b.state == nil || b.state.reported == nil {
		return status
	}
	if status.Targets == nil {
		status.Targets = b.state.reported.Targets
	}
	if status.TargetGroupARN == "" {
		status.TargetGroupARN = b.state.reported.TargetGroupARN
	}
	return status
}

func (b *round) setCondition(t v1beta1.ConditionType, v verdict) {
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
		Type:               string(t),
		Status:             v.status,
		Reason:             string(v.reason),
		Message:            v.message,
		ObservedGeneration: b.Generation,
	})
}

// counts returns the targets of the binding by state, after a pass that came
// to its end.
func (b *round) counts() *v1beta1.TargetCounts {
	p, tally := b.progress(), b.state.ledger.Tally()
	return &v1beta1.TargetCounts{
		Held:     int32(p.held),
		Pending:  int32(p.pending),
		Blocked:  int32(p.blocked),
		Shared:   int32(tally.Shared),
		External: int32(tally.External),
	}
}
