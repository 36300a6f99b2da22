package binding

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership/plan"
)

// Gates lets Pods wait for the health of their targets.
type Gates interface {
	// Waits says how a Pod waits that an endpoint names.
	Waits(client.ObjectKey, types.UID) endpoints.Waits
	// Passed tells what is known of a binding after a pass; nil if it is gone.
	Passed(kind.Kind, client.ObjectKey, *Outcome)
	// Changed lets through the changes of Pods that Waits depends on, and
	// Bindings names those of a kind that the Pod waits for.
	Changed() predicate.Predicate
	Bindings(kind.Kind) handler.MapFunc
}

// Outcome is what is known of a binding after a pass.
type Outcome struct {
	UID    types.UID
	Group  elb.Group // the zero value if it is not known
	Groups Groups    // that know it
	// Reason and Message are those of Ready.
	Reason  v1beta1.ConditionReason
	Message string
	// Failed says that the pass did not come to its end.
	Failed bool
	// Waiting are the targets of the Pods that wait.
	Waiting map[types.UID]Standing
}

// Standing is where a target stands that a Pod waits for.
type Standing struct {
	Target string
	// Registered is whether our own registration of the target is confirmed:
	// that the group has it may be another owner's work, who is about to undo
	// it.
	Registered bool
	// Reason and Message say why it is not.
	Reason  v1beta1.ConditionReason
	Message string
}

// waits is for the endpoints of a binding of addresses.
func (r *Reconciler) waits(b *round) func(*corev1.ObjectReference) endpoints.Waits {
	if r.Gates == nil || b.state.group.TargetType != string(v1beta1.TargetTypeIP) {
		return nil
	}
	return func(pod *corev1.ObjectReference) endpoints.Waits {
		return r.Gates.Waits(client.ObjectKey{Namespace: b.Namespace, Name: pod.Name}, pod.UID)
	}
}

// tellGates is told of every pass, also of one that failed.
func (r *Reconciler) tellGates(b *round, err error, ready verdict) {
	if r.Gates == nil {
		return
	}
	o := &Outcome{UID: b.UID, Reason: ready.reason, Message: ready.message, Failed: err != nil}
	if b.state != nil {
		o.Group, o.Groups, o.Waiting = b.state.group, b.state.groups, b.standings(ready)
	}
	r.Gates.Passed(r.Kind, client.ObjectKeyFromObject(b), o)
}

// standings are those at the end of the pass, whether or not it planned.
func (b *round) standings(ready verdict) map[types.UID]Standing {
	standings := make(map[types.UID]Standing, len(b.gated))
	for pod, t := range b.gated {
		s := Standing{Target: string(t)}
		switch step := plan.Decide(true, false, b.state.ledger.State(t)); {
		case !b.want[t]:
			s.Reason, s.Message = v1beta1.ReasonLimited, fmt.Sprintf("%s is left out: %s", t, ready.message)
		case step.Action == plan.Keep:
			s.Registered = true
		case step.Action == plan.Wait && step.Reason == plan.BlockedByOther:
			s.Reason, s.Message = v1beta1.ReasonBlocked, fmt.Sprintf("%s is not registered yet: %s", t, step.Reason)
		case step.Err != nil:
			s.Reason, s.Message = explain(step.Err), fmt.Sprintf("%s is not registered: %s", t, text(step.Err))
		case ready.reason == v1beta1.ReasonReconciled:
			s.Reason, s.Message = v1beta1.ReasonPending, fmt.Sprintf("%s is not registered yet", t)
		default:
			s.Reason, s.Message = ready.reason, fmt.Sprintf("%s is not registered yet: %s", t, ready.message)
		}
		standings[pod] = s
	}
	return standings
}
