package binding

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// state is what this process remembers of a binding between passes.
type state struct {
	uid    types.UID
	ref    elb.GroupRef
	group  elb.Group
	ledger *ownership.Ledger

	compared    bool      // the group has been listed since the start
	nextCompare time.Time // when it is to be listed again
	confirmed   bool      // removals have been confirmed by a live read since the start
	reported    *v1beta1.TargetGroupBindingStatus
	skipped     map[string]bool // endpoints that an event has named
}

// states keeps the state of each binding. The controller never works on one
// binding twice at a time, so a state itself needs no lock.
type states struct {
	mu  sync.Mutex
	all map[client.ObjectKey]*state
}

func (s *states) get(key client.ObjectKey) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key]
}

func (s *states) put(key client.ObjectKey, st *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[client.ObjectKey]*state{}
	}
	s.all[key] = st
}

func (s *states) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
}

// bind finds the group of the binding and makes sure, by the finalizer, that
// the binding does not go before its record is empty.
func (r *Reconciler) bind(ctx context.Context, b *round) error {
	if err := supported(b.TargetGroupBinding); err != nil {
		return err
	}
	key, ref := client.ObjectKeyFromObject(b), ref(b.TargetGroupBinding)
	if st := r.states.get(key); st != nil && st.uid == b.UID && st.ref == ref {
		b.state = st
		if err := check(b.TargetGroupBinding, st.group); err != nil {
			return err
		}
		return r.keep(ctx, b.TargetGroupBinding)
	}
	group, err := r.Groups.Group(ctx, ref)
	if err != nil {
		return fmt.Errorf("%s: %w", refField(b.TargetGroupBinding), err)
	}
	if err := check(b.TargetGroupBinding, group); err != nil {
		return err
	}
	if err := r.keep(ctx, b.TargetGroupBinding); err != nil {
		return err
	}
	b.state = &state{uid: b.UID, ref: ref, group: group, ledger: r.ledger(b, group.ARN), skipped: map[string]bool{}}
	r.states.put(key, b.state)
	return nil
}

// unbind has the next pass look the group up again: under its name there may
// be another one by then.
func (r *Reconciler) unbind(b *round) { r.states.forget(client.ObjectKeyFromObject(b)) }

func (r *Reconciler) ledger(b *round, group ownership.GroupARN) *ownership.Ledger {
	key := r.keyOf(client.ObjectKeyFromObject(b), group)
	return ownership.NewLedger(r.Store, ownership.Identity{
		Group:             key.Group,
		Owner:             key.Owner,
		BindingUID:        string(b.UID),
		ControllerVersion: r.Version,
	}, r.env())
}

// keyOf names the record of a binding.
func (r *Reconciler) keyOf(binding client.ObjectKey, group ownership.GroupARN) ownership.Key {
	return ownership.Key{Group: group, Owner: ownership.Owner{Cluster: r.ClusterID, Namespace: binding.Namespace, Name: binding.Name}}
}

func (r *Reconciler) env() ownership.Env {
	return ownership.Env{Now: r.Clock.Now, NewID: r.NewID}
}

// forgetGroup drops the record of a group that no longer exists: there is
// nothing left that its targets could be taken out of.
func (r *Reconciler) forgetGroup(ctx context.Context, b *round) error {
	// The group that is missing is the one of the spec. A record of another
	// one, of an earlier spec, is for the sweep of orphans.
	arn, err := ownership.ParseGroupARN(cmp.Or(b.Spec.TargetGroupARN, b.Status.TargetGroupARN))
	if err != nil {
		b.done = true // nothing is known to have been bound
		return nil
	}
	b.state = &state{group: elb.Group{ARN: arn}, ledger: r.ledger(b, arn)}
	if err := b.state.ledger.Look(ctx); err != nil {
		return err
	}
	b.done = true // release forgets the record
	return nil
}

// keep puts our finalizer on the binding before anything is recorded.
func (r *Reconciler) keep(ctx context.Context, b *v1beta1.TargetGroupBinding) error {
	if controllerutil.ContainsFinalizer(b, v1beta1.Finalizer) || !b.DeletionTimestamp.IsZero() {
		return nil
	}
	before := b.DeepCopy()
	controllerutil.AddFinalizer(b, v1beta1.Finalizer)
	return r.Client.Patch(ctx, b, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
