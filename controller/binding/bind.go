package binding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/ownership"
)

// state is what this process remembers of a binding between passes.
type state struct {
	uid    types.UID
	ref    reference
	group  elb.Group
	groups Groups // as the role of the binding reaches them
	ledger *ownership.Ledger
	orphan *orphan // once the binding is gone

	nextCompare time.Time // when the group is to be listed; zero at the start
	unlisted    error     // why the last listing failed
	confirmed   bool      // removals have been confirmed by a live read since the start
	reported    *v1beta1.TargetGroupBindingStatus
	serving     endpoints.Since // endpoints that terminate and serve still
	skipped     map[string]bool // endpoints that an event has named
	standing    map[standing]bool
	blocked     map[ownership.Target]time.Time // since when
	room        int                            // how many targets a share allowed when it was last known
	handing     ownership.Set                  // what has been held since the binding began to hand over
	blockedSeen time.Time                      // the last look at what is blocked
}

// states keeps the state of each binding. The controller never works on one
// binding twice at a time, so a state itself needs no lock.
type states struct {
	mu     sync.Mutex
	all    map[client.ObjectKey]*state
	logged map[client.ObjectKey]v1beta1.ConditionReason
}

func newStates() *states {
	return &states{all: map[client.ObjectKey]*state{}, logged: map[client.ObjectKey]v1beta1.ConditionReason{}}
}

func (s *states) get(key client.ObjectKey) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[key]
}

func (s *states) put(key client.ObjectKey, st *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = st
}

func (s *states) forget(key client.ObjectKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
}

// news reports whether a binding has another trouble than the one that it had
// last; none is no news.
func (s *states) news(key client.ObjectKey, reason v1beta1.ConditionReason) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged[key] == reason {
		return false
	}
	if reason == "" {
		delete(s.logged, key)
		return false
	}
	s.logged[key] = reason
	return true
}

// bind finds the group of the binding and makes sure, by the finalizer, that
// the binding does not go before its record is empty.
func (r *Reconciler) bind(ctx context.Context, b *round) error {
	if err := r.supported(b.TargetGroupBinding); err != nil {
		return err
	}
	key, ref := client.ObjectKeyFromObject(b), ref(b.TargetGroupBinding)
	if st := r.states.get(key); st != nil && st.uid == b.UID && st.ref == ref {
		b.resume(st)
	}
	group, err := r.lookUp(ctx, b, ref)
	if err != nil {
		return err
	}
	if err := check(b.TargetGroupBinding, group); err != nil {
		return err
	}
	if err := r.keep(ctx, b); err != nil {
		return err
	}
	if b.state == nil {
		ledger := r.ledger(r.keyOf(key, group.ARN), b.UID)
		b.resume(&state{uid: b.UID, ref: ref, group: group, groups: r.as(ref.role), ledger: ledger, skipped: map[string]bool{}})
		r.roles.remember(r.keyOf(key, group.ARN), ref.role)
		r.states.put(key, b.state)
	}
	return b.misread
}

// resume begins the pass with what is remembered.
func (b *round) resume(st *state) {
	st.orphan = nil
	st.ledger.Begin(b.began)
	b.state = st
}

// group is the group as this process knows it, or as AWS describes it.
func (r *Reconciler) group(ctx context.Context, b *round, ref reference) (elb.Group, error) {
	if b.state != nil {
		return b.state.group, nil
	}
	group, err := r.as(ref.role).Group(ctx, ref.GroupRef)
	if err != nil {
		return elb.Group{}, fmt.Errorf("%s: %w", refField(b.TargetGroupBinding), err)
	}
	return group, nil
}

// unbind has the next pass look the group up again: under its name there may
// be another one by then.
func (r *Reconciler) unbind(b *round) { r.states.forget(client.ObjectKeyFromObject(b)) }

// ledger is for the record of a binding with that UID; none for a binding
// that is gone.
func (r *Reconciler) ledger(key ownership.Key, uid types.UID) *ownership.Ledger {
	return ownership.NewLedger(r.Store, ownership.Identity{
		Group:             key.Group,
		Owner:             key.Owner,
		BindingUID:        string(uid),
		ControllerVersion: r.Version,
	}, ownership.Env{Now: r.Clock.Now, NewID: r.NewID})
}

// keyOf names the record of a binding.
func (r *Reconciler) keyOf(binding client.ObjectKey, group ownership.GroupARN) ownership.Key {
	return ownership.Key{Group: group, Owner: ownership.Owner{Cluster: r.ClusterID, Namespace: binding.Namespace, Name: r.Kind.Owner(binding.Name)}}
}

// forgetGroup drops the record of a group that no longer exists: there is
// nothing left that its targets could be taken out of.
func (r *Reconciler) forgetGroup(ctx context.Context, b *round) error {
	b.state = nil
	// The group that is missing is the one of the spec. A record of another
	// one, of an earlier spec, is for the sweep of orphans.
	arn, err := ownership.ParseGroupARN(cmp.Or(b.Spec.TargetGroupARN, b.Status.TargetGroupARN))
	if err != nil {
		b.done = true // nothing is known to have been bound
		return nil
	}
	if err := r.believes(r.keyOf(client.ObjectKeyFromObject(b), arn), role(b.TargetGroupBinding)); err != nil {
		return err
	}
	if left, err := r.onlyNameMissing(ctx, b, arn); err != nil || left {
		b.done = left // its record is for the sweep of orphans
		return err
	}
	ledger := r.ledger(r.keyOf(client.ObjectKeyFromObject(b), arn), b.UID)
	if err := ledger.Look(ctx); err != nil {
		return err
	}
	b.state = &state{group: elb.Group{ARN: arn}, ledger: ledger}
	b.done = true // release forgets the record
	return nil
}

// onlyNameMissing reports whether the group that the binding had under its
// name is there all the same.
func (r *Reconciler) onlyNameMissing(ctx context.Context, b *round, arn ownership.GroupARN) (bool, error) {
	if b.Spec.TargetGroupARN != "" {
		return false, nil
	}
	_, err := r.as(role(b.TargetGroupBinding)).Group(ctx, elb.GroupRef{ARN: string(arn)})
	if errors.Is(err, ownership.ErrGroupMissing) {
		return false, nil
	}
	return err == nil, err
}

// keep puts our finalizer on the binding before anything is recorded.
func (r *Reconciler) keep(ctx context.Context, b *round) error {
	if controllerutil.ContainsFinalizer(b, v1beta1.Finalizer) || b.deleting() {
		return nil
	}
	return r.patch(ctx, b, func() { controllerutil.AddFinalizer(b, v1beta1.Finalizer) })
}
