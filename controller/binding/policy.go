package binding

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"target-ownership-controller/controller/policy"
)

// readPolicy reads the annotations of the binding. What they may mean is not
// guessed: bind refuses one that cannot be read, since what is taken out by
// mistake cannot be kept any more.
func (b *round) readPolicy() {
	p, err := policy.Parse(b.Annotations)
	if err != nil {
		b.misread = invalidSpec("%v; until then nothing is registered or taken out, and the binding stays if it is deleted", err)
	}
	b.policy = p
}

// policyChanged is for a change of an annotation, which is none of the
// generation.
func policyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return policy.Changed(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
	}}
}
