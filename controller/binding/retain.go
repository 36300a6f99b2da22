package binding

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// retains reports whether the binding goes and its targets stay.
func (b *round) retains() bool {
	return b.deleting() && b.Annotations[v1beta1.DeletionPolicyAnnotation] == v1beta1.DeletionPolicyRetain
}

// checkPolicy refuses a deletion that does not say clearly what is to become
// of the targets: what was taken out cannot be kept any more.
func checkPolicy(b *round) error {
	switch value, found := b.Annotations[v1beta1.DeletionPolicyAnnotation]; {
	case !b.deleting(), !found, value == v1beta1.DeletionPolicyRetain, value == v1beta1.DeletionPolicyRelease:
		return nil
	default:
		return invalidSpec("annotation %s is %q, so that nothing is taken out and the binding stays; set it to %s or %s",
			v1beta1.DeletionPolicyAnnotation, value, v1beta1.DeletionPolicyRetain, v1beta1.DeletionPolicyRelease)
	}
}

// retained is what a binding wants that goes and leaves its targets: all that
// it holds, or held in a row that the table has lost. The ledger has to be
// loaded.
func retained(ledger *ownership.Ledger) ownership.Set {
	want := ownership.Set{}
	for s := range ledger.States(nil) {
		if s.Entry == ownership.Held || s.Lost {
			want[s.Target] = true
		}
	}
	return want
}

// handedOver reports whether the record of a binding that leaves its targets
// can go: what it was taking out is out, and no registration can land any
// more, when the target may have another owner who has taken it out.
func (b *round) handedOver() bool {
	record := b.state.ledger.Record()
	return len(record.Releasing) == 0 && b.landed().IsZero() && b.report.Plan.Count(plan.Claim) == 0
}

// landed is when the last registration in doubt has landed or never will; zero
// if none is.
func (b *round) landed() time.Time {
	var last time.Time
	for s := range b.state.ledger.States(nil) {
		if s.Entry == ownership.Held && s.ReturnBy.After(last) {
			last = s.ReturnBy
		}
	}
	return last
}

// policyChanged is for a change of the annotation, which is none of the
// generation.
func policyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		const name = v1beta1.DeletionPolicyAnnotation
		return e.ObjectOld.GetAnnotations()[name] != e.ObjectNew.GetAnnotations()[name]
	}}
}
