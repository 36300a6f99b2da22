package binding

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/ownership/plan"
)

// pollBlocked is how soon a blocked target is looked at again. A release is
// two table calls and one of the load balancer, so it is over within that.
const pollBlocked = time.Second

// next says when the binding is to be looked at again without any event.
func (r *Reconciler) next(ctx context.Context, b *round, err error) reconcile.Result {
	key := client.ObjectKeyFromObject(b)
	switch {
	case err != nil && needsPerson[explain(err)]:
		r.backoff.Forget(key)
		log.FromContext(ctx).Info("waiting for a change", "reason", explain(err), "message", err.Error())
		return reconcile.Result{RequeueAfter: jitter(r.ComparePeriod)}
	case err != nil:
		after := r.backoff.When(key)
		log.FromContext(ctx).Info("pass ended early", "reason", explain(err), "message", err.Error(), "retryAfter", after)
		return reconcile.Result{RequeueAfter: after}
	case b.report.TooLarge != nil || b.report.Plan.Count(plan.Wait, plan.CallFailed, plan.Unreadable) > 0:
		return reconcile.Result{RequeueAfter: min(r.backoff.When(key), r.wait(b))}
	default:
		r.backoff.Forget(key)
		return reconcile.Result{RequeueAfter: r.wait(b)}
	}
}

// wait is the time until a waiting target may go on, or until the next
// comparison.
func (r *Reconciler) wait(b *round) time.Duration {
	now := r.Clock.Now()
	wait := b.state.nextCompare.Sub(now)
	for _, s := range b.report.Plan.Steps {
		switch {
		case s.Reason == plan.BlockedByOther:
			wait = min(wait, jitter(pollBlocked))
		case !s.Until.IsZero():
			wait = min(wait, s.Until.Sub(now))
		}
	}
	return max(wait, time.Millisecond)
}
