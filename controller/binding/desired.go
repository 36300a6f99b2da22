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
	if b.deleting() {
		b.want = ownership.Set{}
		return nil
	}
	if b.shared() && r.Gate.Drained() {
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
		Held:         b.state.ledger.Holds,
	})
	if err != nil {
		return err
	}
	b.want, b.skipped = want.Targets, want.Skipped
	return nil
}

// confirm settles what is wanted, now that the record is known. It reads around
// the caches before a removal that a cache could get wrong: the first since the start or since another process wrote our record,
// of everything, of more than half, or of what nobody recorded.
func (r *Reconciler) confirm(ctx context.Context, b *round) error {
	if b.state.ledger.Inherited() {
		b.state.confirmed = false // our caches may be as old as our lead
	}
	if b.retains() {
		b.want = retained(b.state.ledger)
	}
	if b.deleting() || b.live {
		return nil
	}
	held, unwanted := b.state.ledger.Unwanted(b.want)
	foreign := b.exclusive() && b.state.ledger.Foreign(b.want) > 0
	if unwanted == 0 && !foreign {
		return nil
	}
	large := foreign || unwanted == held || held >= confirmFrom && unwanted*2 > held
	if b.state.confirmed && !large {
		return nil
	}
	if err := r.desiredLive(ctx, b); err != nil {
		return err
	}
	b.state.confirmed = true
	return nil
}
