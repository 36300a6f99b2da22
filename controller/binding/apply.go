package binding

import (
	"context"
	"errors"
	"fmt"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// whyNothing is why a binding wants no target, for the history; empty if it
// wants some.
func (b *round) whyNothing() string {
	switch {
	case b.deleting():
		return "the binding is deleted"
	case errors.Is(b.absent, errDrained):
		return "the cluster is drained"
	case b.absent != nil:
		return "the Service is gone"
	default:
		return ""
	}
}

// apply plans and carries out the plan, stage by stage.
func (r *Reconciler) apply(ctx context.Context, b *round) error {
	r.reportSkipped(b)
	b.state.ledger.Mode(!b.shared())
	p := pass.Pass{
		Ledger:  b.state.ledger,
		Group:   b.state.groups,
		Binding: plan.Binding{Want: b.want, Exclusive: b.exclusive()},
		Now:     r.Clock.Now,
		Why:     b.why,

		Looked:       b.reconsider,
		ReleaseFirst: b.policy.Order == v1beta1.OrderReleaseFirst,
		SideBySide:   true,
	}
	err := p.Run(ctx)
	b.report = p.Report
	r.tellPass(ctx, b, err)
	metrics.Changed(len(p.Report.Registered), len(p.Report.Deregistered))
	if err == nil && groupMissing(b.report) {
		return fmt.Errorf("target group %s: %w", b.state.group.ARN, ownership.ErrGroupMissing)
	}
	return err
}
