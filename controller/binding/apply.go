package binding

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// apply plans and carries out the plan, stage by stage.
func (r *Reconciler) apply(ctx context.Context, b *round) error {
	r.reportSkipped(b)
	p := pass.Pass{
		Ledger:  b.state.ledger,
		Group:   r.Groups,
		Binding: plan.Binding{Want: b.want, Exclusive: b.exclusive()},
		Now:     r.Clock.Now,
	}
	err := p.Run(ctx)
	b.report = p.Report
	r.tellPass(b, err)
	metrics.Changed(len(p.Report.Registered), len(p.Report.Deregistered))
	if len(p.Report.Registered) > 0 || len(p.Report.Deregistered) > 0 {
		log.FromContext(ctx).Info("target group changed", "targetGroup", b.state.group.ARN,
			"registered", len(p.Report.Registered), "deregistered", len(p.Report.Deregistered))
	}
	if err == nil && groupMissing(b.report) {
		return fmt.Errorf("target group %s: %w", b.state.group.ARN, ownership.ErrGroupMissing)
	}
	return err
}
