package binding

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/ownership"
)

// confirmFrom is the number of held targets from which a pass that would
// remove more than half of them is confirmed by live reads.
const confirmFrom = 4

// errDrained is why a binding of a drained cluster wants nothing.
var errDrained = errors.New("an operator drains this cluster: its targets leave the groups that it shares, until its state in the ownership table is " + string(ownership.ClusterActive) + " again")

// desired finds what the binding wants in its group. An error means that
// this is unknown, and nothing is taken out on it. A Service that does not
// exist wants nothing, and a live read has to agree.
func (r *Reconciler) desired(ctx context.Context, b *round) error {
	switch {
	case b.retains():
		return nil // what the record holds, once that is known
	case b.handsOver():
		r.remaining(ctx, b, r.Client)
		return nil
	case b.deleting():
		b.want = ownership.Set{}
		return nil
	case b.shared() && r.Gate.Drained():
		b.want, b.absent, b.live = ownership.Set{}, errDrained, true
		return nil
	}
	err := r.read(ctx, b, r.Client)
	if missing := new(endpoints.ServiceNotFoundError); errors.As(err, &missing) {
		return r.desiredLive(ctx, b)
	}
	return err
}

func (r *Reconciler) desiredLive(ctx context.Context, b *round) error {
	b.live = true
	err := r.read(ctx, b, r.Live)
	if missing := new(endpoints.ServiceNotFoundError); errors.As(err, &missing) {
		b.want, b.absent = ownership.Set{}, err
		return nil
	}
	return err
}

func (r *Reconciler) read(ctx context.Context, b *round, reader client.Reader) error {
	want, err := endpoints.Resolver{Reader: reader, Nodes: r.Client}.Want(ctx, endpoints.Query{
		Namespace:    b.Namespace,
		ServiceName:  b.Spec.ServiceRef.Name,
		ServicePort:  b.Spec.ServiceRef.Port,
		TargetType:   b.state.group.TargetType,
		Family:       b.state.group.IPAddressType,
		Protocol:     b.state.group.Protocol,
		NodeSelector: b.Spec.NodeSelector,
		Nodes:        endpoints.NodePolicy(b.policy.Nodes),
		Held:         b.state.ledger.Holds,
		Hold:         endpoints.Hold{For: b.policy.HoldServing, Since: b.state.serving, Now: b.began},
		Minimum:      b.minimum(),
		Waits:        r.waits(b),
	})
	if err != nil {
		return err
	}
	b.want, b.skipped, b.gated = want.Targets, want.Skipped, want.Waiting
	b.kept, b.heldUntil, b.state.serving = len(want.Kept), want.Until, want.Since
	return nil
}

// confirm settles what is wanted, now that the record is known. It reads around
// the caches before a removal that a cache could get wrong. What the policies
// of the binding make of it needs no such reading.
func (r *Reconciler) confirm(ctx context.Context, b *round) error {
	if b.state.ledger.Inherited() {
		b.state.confirmed = false // our caches may be as old as our lead
	}
	if b.doubtful() {
		if err := r.desiredAgain(ctx, b); err != nil {
			return err
		}
		b.state.confirmed = true
	}
	switch {
	case b.retains():
		b.want = retained(b.state.ledger)
	case b.handsOver():
		b.handOver()
	default:
		b.limit()
	}
	if b.forbidden != nil {
		b.onlyHeld()
	}
	return nil
}

// doubtful are removals that a cache could get wrong: the first since the start
// or since another process wrote our record, of everything, of more than half,
// or of what nobody recorded.
func (b *round) doubtful() bool {
	if b.deleting() && !b.handsOver() || b.live {
		return false
	}
	held, unwanted := b.state.ledger.Unwanted(b.want)
	foreign := b.exclusive() && b.state.ledger.Foreign(b.want) > 0
	large := unwanted == held || held >= confirmFrom && unwanted*2 > held
	return foreign || unwanted > 0 && (large || !b.state.confirmed)
}

func (r *Reconciler) desiredAgain(ctx context.Context, b *round) error {
	if b.handsOver() {
		r.remaining(ctx, b, r.Live)
		return nil
	}
	return r.desiredLive(ctx, b)
}
