package binding

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

func (r *Reconciler) metricsOf(key client.ObjectKey) metrics.Binding {
	return metrics.Binding{Namespace: key.Namespace, Kind: r.Kind.Name, Name: key.Name}
}

// gauges are what the metrics say of the binding after the pass.
func (r *Reconciler) gauges(b *round, err error, ready verdict) metrics.State {
	s := metrics.State{Ready: ready.status == metav1.ConditionTrue, Reason: string(ready.reason), Scope: b.scope(ready.reason)}
	if err != nil {
		return s
	}
	s.Counts, s.Waiting, s.BlockedSince = b.Status.Targets, b.waiting(), b.state.blockedSince(b, r.Clock.Now())
	return s
}

// scopes are the reasons of Ready that are no trouble of one binding.
var scopes = map[v1beta1.ConditionReason]metrics.Scope{
	v1beta1.ReasonClusterDrained: metrics.OfOperator,
	v1beta1.ReasonClusterRetired: metrics.OfOperator,

	v1beta1.ReasonClusterIDConflict:            metrics.OfCluster,
	v1beta1.ReasonClusterNotActive:             metrics.OfCluster,
	v1beta1.ReasonLoadBalancerControllerActive: metrics.OfCluster,
	v1beta1.ReasonLoadBalancerUnavailable:      metrics.OfCluster,
	v1beta1.ReasonTableUnavailable:             metrics.OfCluster,
	v1beta1.ReasonThrottled:                    metrics.OfCluster,
}

// scope says whose trouble the reason is. What closes the gate closes it for
// all bindings.
func (b *round) scope(reason v1beta1.ConditionReason) metrics.Scope {
	switch of, known := scopes[reason]; {
	case known:
		return of
	case b.closed != nil:
		return metrics.OfCluster
	default:
		return metrics.OfBinding
	}
}

// waitingFor are the reasons of a plan for which targets wait, as metrics name
// them.
var waitingFor = map[plan.Reason]string{
	plan.BlockedByOther: "blocked",
	plan.Unreadable:     "unreadable",
	plan.Settling:       "settling",
	plan.RefusedLately:  "refused",
	plan.CallFailed:     "failed",
}

func (b *round) waiting() map[string]int {
	waiting := map[string]int{}
	for _, s := range b.report.Plan.Steps {
		switch s.Action {
		case plan.Wait:
			waiting[waitingLabel(s)]++
		case plan.Claim:
			waiting["too_large"]++ // a pass that came to its end leaves no other
		}
	}
	return waiting
}

// waitingLabel says why the target of a step waits. What the load balancer
// refuses is refused in the pass that asks as well as in those between, and a
// full group is asked in each pass.
func waitingLabel(s plan.Step) string {
	if errors.Is(s.Err, ownership.ErrGroupFull) || errors.Is(s.Err, ownership.ErrInvalidTarget) {
		return "refused"
	}
	return waitingFor[s.Reason]
}

// blockedSince is when the first of the targets was blocked that still are;
// zero if none is. The time in which nobody could look, beyond what is fresh,
// does not count: another owner may have been kept from its work as well.
func (st *state) blockedSince(b *round, now time.Time) time.Time {
	blocked, first := map[ownership.Target]time.Time{}, time.Time{}
	unseen := max(0, now.Sub(st.blockedSeen)-metrics.Fresh)
	st.blockedSeen = now
	for _, t := range b.report.Plan.Targets(plan.Wait, plan.BlockedByOther) {
		since, already := st.blocked[t]
		if since = since.Add(unseen); !already {
			since = now
		}
		blocked[t] = since
		if first.IsZero() || since.Before(first) {
			first = since
		}
	}
	st.blocked = blocked
	return first
}
