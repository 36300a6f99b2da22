package binding

import (
	"context"
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// handing is how far the targets of a binding have gone over to another owner.
type handing struct {
	all   int           // targets that it had when it began
	taken ownership.Set // those of them that the other owner holds
	gone  int           // those without an endpoint
}

// handsOver reports whether the binding goes as soon as another owner has its
// targets.
func (b *round) handsOver() bool {
	return b.deleting() && b.policy.Deletion == v1beta1.DeletionPolicyHandOver
}

// remaining finds which endpoints of a binding that hands over are still there.
// Where nobody can say, as when the Service went with the binding, none is
// known to be gone: want stays nil.
func (r *Reconciler) remaining(ctx context.Context, b *round, reader client.Reader) {
	if err := r.read(ctx, b, reader); err != nil {
		b.want = nil
	}
}

// handOver wants what is held and has an endpoint, until the other owner holds
// it. The ordinary release then finds it there, and leaves it.
func (b *round) handOver() {
	held := retained(b.state.ledger)
	if b.state.handing == nil {
		b.state.handing = ownership.Set{}
	}
	maps.Copy(b.state.handing, held)
	taken := ownership.Set{}
	if look := b.state.ledger.Current(); look != nil {
		taken = look.HeldBy(b.policy.HandOverTo)
	}
	h := handing{all: len(b.state.handing), taken: ownership.Set{}}
	want := ownership.Set{}
	for t := range b.state.handing {
		switch {
		case taken[t]:
			h.taken[t] = true
		case b.want != nil && !b.want[t]:
			h.gone++
		case b.state.ledger.State(t).Entry != ownership.Unrecorded || held[t]:
			want[t] = true
		}
	}
	b.want, b.handing = want, h
}

// notTaken is what the other owner has let go of since.
func (b *round) notTaken(look *ownership.Look) ownership.Set {
	again, holds := ownership.Set{}, look.HeldBy(b.policy.HandOverTo)
	for t := range b.handing.taken {
		if !holds[t] {
			again[t] = true
		}
	}
	return again
}

func (b *round) whyHanded(t ownership.Target) string {
	if b.handing.taken[t] {
		return fmt.Sprintf("the binding is deleted, and %s holds the target", b.policy.HandOverTo)
	}
	return "" // its endpoint is gone
}

// awaited says what the binding waits for.
func (b *round) awaited() string {
	text := fmt.Sprintf("%s holds %d of %d", b.policy.HandOverTo, len(b.handing.taken), b.handing.all)
	if b.handing.gone > 0 {
		text += fmt.Sprintf(", %d have no endpoint any more", b.handing.gone)
	}
	return text + fmt.Sprintf("; %d stay in the group until it holds them too, or %s is %s or %s",
		len(b.want), v1beta1.DeletionPolicyAnnotation, v1beta1.DeletionPolicyDelete, v1beta1.DeletionPolicyRetain)
}
