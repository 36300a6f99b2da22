package binding

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/ownership/plan"
)

// pollBlocked is how soon a blocked target is looked at again: for Settle at
// most, after which its releasing owner counts as dead.
const pollBlocked = time.Second

// next says when the binding is to be looked at again without any event.
func (r *Reconciler) next(ctx context.Context, b *round, err error) reconcile.Result {
	key := client.ObjectKeyFromObject(b)
	switch {
	case err != nil && needsPerson[explain(err)]:
		r.backoff.Forget(key)
		r.tell(ctx, key, err, "waiting for a change")
		return reconcile.Result{RequeueAfter: r.untilTags(b, jitter(r.ComparePeriod))}
	case err != nil:
		r.tell(ctx, key, err, "pass ended early, and is tried again")
		return reconcile.Result{RequeueAfter: r.retry(key)}
	default:
		r.states.news(key, "")
		return reconcile.Result{RequeueAfter: r.wait(b)}
	}
}

// tell logs a trouble when it begins. While it lasts, the condition has it.
func (r *Reconciler) tell(ctx context.Context, key client.ObjectKey, err error, what string) {
	if reason := explain(err); r.states.news(key, reason) {
		log.FromContext(ctx).Info(what, "reason", reason, "message", err.Error())
	}
}

// retry is the time until a binding that failed is tried again.
func (r *Reconciler) retry(key client.ObjectKey) time.Duration {
	after := r.backoff.When(key)
	if r.outages.probes(key) {
		return min(after, probePeriod)
	}
	return after
}

// wait is the time until what failed is tried again, a waiting target may go
// on, or the next comparison is due.
func (r *Reconciler) wait(b *round) time.Duration {
	key, now := client.ObjectKeyFromObject(b), r.Clock.Now()
	failed := b.unsure() || b.report.TooLarge != nil || b.report.Plan.Count(plan.Wait, plan.CallFailed, plan.Unreadable) > 0
	if !failed || b.called() {
		r.backoff.Forget(key)
	}
	wait := r.untilTags(b, b.state.nextCompare.Sub(now))
	if failed {
		wait = min(wait, r.retry(key))
	}
	if b.report.Plan.Count(plan.Wait, plan.BlockedByOther) > 0 {
		wait = min(wait, jitter(pollBlocked))
	}
	for _, s := range b.report.Plan.Steps {
		if !s.Until.IsZero() {
			wait = min(wait, s.Until.Sub(now))
		}
	}
	if b.dependsOnOthers() {
		wait = min(wait, jitter(pollOthers))
	}
	if !b.heldUntil.IsZero() {
		wait = min(wait, b.heldUntil.Sub(now))
	}
	if landed := b.landed(); b.retains() && !landed.IsZero() {
		wait = min(wait, landed.Sub(now))
	}
	return max(wait, time.Millisecond)
}
