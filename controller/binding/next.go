package binding

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/ownership/plan"
)

// next says when the binding is to be looked at again without any event.
func (r *Reconciler) next(ctx context.Context, b *round, err error) reconcile.Result {
	key := client.ObjectKeyFromObject(b)
	switch {
	case err != nil && needsPerson[explain(err)]:
		r.backoff.Forget(key)
		log.FromContext(ctx).Info("waiting for a change", "reason", explain(err), "message", err.Error())
		return reconcile.Result{RequeueAfter: jitter(r.ComparePeriod)}
	case err != nil:
		after := r.retry(key)
		log.FromContext(ctx).Info("pass ended early", "reason", explain(err), "message", err.Error(), "retryAfter", after)
		return reconcile.Result{RequeueAfter: after}
	default:
		return reconcile.Result{RequeueAfter: r.wait(b)}
	}
}

// retry is the time until a binding that failed is tried again.
func (r *Reconciler) retry(key client.ObjectKey) time.Duration {
	after := r.backoff.When(key)
	if r.recovery.probe(key) {
		return min(after, probePeriod)
	}
	return after
}

// wait is the time until what failed is tried again, a waiting target may go
// on, or the next comparison is due.
func (r *Reconciler) wait(b *round) time.Duration {
	key, now := client.ObjectKeyFromObject(b), r.Clock.Now()
	failed := b.report.TooLarge != nil || b.report.Plan.Count(plan.Wait, plan.CallFailed, plan.Unreadable) > 0
	if !failed || b.called() {
		r.backoff.Forget(key)
	}
	wait := b.state.nextCompare.Sub(now)
	if failed {
		wait = min(wait, r.retry(key))
	}
	if b.report.Plan.Count(plan.Wait, plan.BlockedByOther) == 0 {
		b.state.blocked = time.Time{}
	} else {
		wait = min(wait, jitter(b.pollBlocked(now)))
	}
	for _, s := range b.report.Plan.Steps {
		if !s.Until.IsZero() {
			wait = min(wait, s.Until.Sub(now))
		}
	}
	return max(wait, time.Millisecond)
}

// pollBlocked is how soon blocked targets are looked at again. A release is
// two table calls and one of the load balancer, so most are free within a
// second; the longer it lasts, the longer the waits.
func (b *round) pollBlocked(now time.Time) time.Duration {
	if b.state.blocked.IsZero() {
		b.state.blocked = now
	}
	return min(max(now.Sub(b.state.blocked)/4, time.Second), maxRetry/2)
}
