package binding

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/policy"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// readPolicy reads the annotations of the binding. What they may mean is not
// guessed: bind refuses one that cannot be read, since what is taken out by
// mistake cannot be kept any more.
func (r *Reconciler) readPolicy(b *round) {
	p, err := policy.Parse(b.Annotations)
	if self := r.keyOf(client.ObjectKeyFromObject(b), "").Owner; err == nil && p.HandOverTo == self {
		err = fmt.Errorf("annotation %s is %q, which is this binding itself; it has to be another owner", v1beta1.HandOverToAnnotation, self)
	}
	if err != nil {
		b.misread = invalidSpec("%v; until then nothing is registered or taken out, and the binding stays if it is deleted", err)
		return
	}
	b.policy = p
}

// minimum is how many targets have to stay; nil if that does not matter.
func (b *round) minimum() func(there int) int {
	if b.policy.Minimum == (policy.Minimum{}) {
		return nil
	}
	return b.policy.Minimum.Of
}

// dependsOnOthers reports whether it matters to the binding what others hold.
func (b *round) dependsOnOthers() bool {
	return b.handsOver() || b.policy.Share < 100 && !b.deleting() && b.absent == nil
}

// pollOthers is how often a binding to which it matters reads what others hold.
const pollOthers = 30 * time.Second

// reconsider takes releases back, at the look that follows their flag: others
// may have let go at the same moment, and then the targets would leave the
// group.
func (b *round) reconsider(look *ownership.Look) {
	var again ownership.Set
	switch {
	case b.handsOver():
		again = b.notTaken(look)
	case b.dependsOnOthers():
		again = b.choose(others(look))
	}
	for t := range again {
		if b.state.ledger.State(t).Entry == ownership.Releasing {
			b.want[t] = true
		}
	}
}

// why is why a target is no longer wanted, for the history, if it is not that
// its endpoint is gone.
func (b *round) why(s plan.Step) string {
	switch {
	case s.Reason == plan.WantedAgain && b.dependsOnOthers():
		return "it is wanted again, or other owners hold less than when it was flagged"
	case s.Reason != plan.Unwanted:
		return ""
	case b.handsOver():
		return b.whyHanded(s.Target)
	case b.limited.endpoints[s.Target]:
		return b.limited.to.Why
	default:
		return b.whyNothing()
	}
}

// policyChanged is for a change of an annotation, which is none of the
// generation.
func policyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return policy.Changed(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
	}}
}
