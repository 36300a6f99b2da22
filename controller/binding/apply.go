package binding

import (
	"context"
	"fmt"

	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// apply plans and carries out the plan, stage by stage.
func (r *Reconciler) apply(ctx context.Context, b *round) error {
	r.reportSkipped(b)
	b.state.ledger.Mode(!b.shared())
	p := pass.Pass{
		Ledger:  b.state.ledger,
		Group:   r.Groups,
		Binding: plan.Binding{Want: b.want, Exclusive: b.exclusive()},
		Now:     r.Clock.Now,

		SideBySide: true,
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
