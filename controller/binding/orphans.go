package binding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// Orphans finishes what bindings left behind that are gone without their
// finalizer, or that moved to another group: records of this cluster that no
// binding stands for.
type Orphans struct {
	Reconciler *Reconciler
	// Period is the time between two sweeps.
	Period time.Duration

	// known outlives a sweep: a release may have to settle before it ends.
	known map[ownership.Key]*orphan
}

// orphan is a record that may be one.
type orphan struct {
	ledger *ownership.Ledger
	read   cluster.Mark // after all that the ledger knows was read
}

// errStands is the end of a suspicion: a binding stands for the record.
var errStands = errors.New("the API server has the binding")

// NeedLeaderElection is for the manager: only the leader writes records.
func (o *Orphans) NeedLeaderElection() bool { return true }

// pollGate is how soon a sweep is tried again that was not allowed: after a
// start the first one would otherwise be a whole period late. So it is with a
// record for which the claim is to be renewed.
const pollGate = time.Second

// Start sweeps until the context ends.
func (o *Orphans) Start(ctx context.Context) error {
	o.known = map[ownership.Key]*orphan{}
	for {
		timer := time.NewTimer(jitter(o.sweep(ctx)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// sweep returns how long to wait for the next one.
func (o *Orphans) sweep(ctx context.Context) time.Duration {
	logger := log.FromContext(ctx).WithName("orphans")
	if o.Reconciler.Gate.Check() != nil {
		return pollGate
	}
	keys, err := o.Reconciler.Store.Groups(ctx, o.Reconciler.ClusterID)
	if err != nil {
		logger.Info("sweep put off", "message", err.Error())
		return maxRetry
	}
	keys = slices.DeleteFunc(keys, func(key ownership.Key) bool { return !o.Reconciler.ours(key) })
	for key := range o.known {
		if !slices.Contains(keys, key) {
			keys = append(keys, key) // its row is lost, its targets may not be
		}
	}
	next := o.Period
	for _, key := range keys {
		err := o.finish(ctx, key)
		if errors.Is(err, cluster.ErrNotRenewed) {
			next = min(next, pollGate)
			continue
		}
		if err != nil {
			logger.Info("record not finished yet", "owner", key.Owner.String(), "targetGroup", key.Group, "message", err.Error())
			next = min(next, maxRetry)
		}
	}
	return next
}

// finish has a record released that may be orphaned.
func (o *Orphans) finish(ctx context.Context, key ownership.Key) error {
	if o.Reconciler.working(key) { // its status may not name the group yet
		delete(o.known, key)
		return nil
	}
	record, ok := o.known[key]
	if !ok {
		if o.Reconciler.expected(ctx, key) {
			return nil
		}
		record = &orphan{ledger: o.Reconciler.ledger(key, "")}
		o.known[key] = record
	}
	err := o.Reconciler.finish(ctx, key, record)
	if err == nil || errors.Is(err, errStands) {
		delete(o.known, key)
		return nil
	}
	return err
}

// finish releases the targets of an orphaned record and deletes it.
//
// The record is read before anybody asks whether it is orphaned, and whose
// the cluster ID is: a binding that is made anew after that, or another
// cluster, writes a record of another revision, which the ledger's own writes
// do not touch.
func (r *Reconciler) finish(ctx context.Context, key ownership.Key, o *orphan) (failed error) {
	ctx, span := r.trace(ctx, "orphan", r.bindingOf(key))
	defer func() { endOrphanTrace(span, key, failed) }()
	o.ledger.Begin(r.Clock.Now())
	if err := r.readOrphan(ctx, o); err != nil {
		return err
	}
	orphaned, err := r.orphaned(ctx, key)
	if err != nil {
		return err
	}
	if !orphaned {
		return errStands
	}
	if err := admits(r.Gate.CheckSince(o.read), true); err != nil {
		return err
	}
	groups, err := r.reach(key)
	if err != nil && !o.ledger.Finished() {
		return err
	}
	err = r.clear(ctx, key, o.ledger, groups)
	if err == nil {
		r.roles.forget(key)
	} else {
		o.read = r.Gate.Mark()
	}
	return err
}

func (r *Reconciler) readOrphan(ctx context.Context, o *orphan) error {
	if o.ledger.Loaded() {
		return nil
	}
	err := o.ledger.Look(ctx)
	o.read = r.Gate.Mark()
	return err
}

// ours reports whether a binding of our kind would stand for the record.
func (r *Reconciler) ours(key ownership.Key) bool {
	_, ok := r.Kind.Of(key.Owner.Name)
	return ok
}

// bindingOf names the binding that would stand for a record of ours.
func (r *Reconciler) bindingOf(key ownership.Key) client.ObjectKey {
	name, _ := r.Kind.Of(key.Owner.Name)
	return client.ObjectKey{Namespace: key.Owner.Namespace, Name: name}
}

// working reports whether this process brings targets into the group for a
// binding of that name.
func (r *Reconciler) working(key ownership.Key) bool {
	st := r.states.get(r.bindingOf(key))
	return st != nil && st.group.ARN == key.Group
}

// orphaned asks the API server, not a cache, whether a binding stands for
// the record. What cannot be told is not orphaned.
func (r *Reconciler) orphaned(ctx context.Context, key ownership.Key) (bool, error) {
	object := r.Kind.New()
	if err := r.Live.Get(ctx, r.bindingOf(key), object); err != nil {
		// A bare 404 is the answer of something in between, or of an API
		// server that does not know the kind just now.
		absent := apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
		if absent {
			return true, nil
		}
		return false, err
	}
	return !r.stands(r.Kind.Binding(object), key), nil
}

// stands reports whether a binding stands for the record of its name.
func (r *Reconciler) stands(b *v1beta1.TargetGroupBinding, key ownership.Key) bool {
	if arn := b.Spec.TargetGroupARN; arn != "" {
		return arn == string(key.Group)
	}
	// A name may stand for another group than the status last said: what this
	// process found for it decides.
	st := r.states.get(r.bindingOf(key))
	return st == nil || st.group.ARN == key.Group
}

// expected reports whether the cache has a binding that stands for the record.
// After a start that is so for nearly all records, whose bindings wait for their
// turn: no call is needed to leave them alone. Should the cache be behind, a
// later sweep has them.
func (r *Reconciler) expected(ctx context.Context, key ownership.Key) bool {
	object := r.Kind.New()
	err := r.Client.Get(ctx, r.bindingOf(key), object)
	return err == nil && r.stands(r.Kind.Binding(object), key)
}

// clear brings the record to its end: nothing is wanted. An error says what
// it still waits for.
func (r *Reconciler) clear(ctx context.Context, key ownership.Key, ledger *ownership.Ledger, groups Groups) error {
	p := pass.Pass{Ledger: ledger, Group: groups, Binding: plan.Binding{}, Now: r.Clock.Now, Why: pass.Because("the binding is gone")}
	err := p.Run(ctx)
	record := ledger.Record()
	r.account(ctx, record, p.Report.Events)
	if err != nil {
		return err
	}
	missing := groupMissing(p.Report)
	if err := r.believes(key, elb.Role{}); missing && err != nil {
		return err
	}
	if !record.Empty() && !missing {
		return fmt.Errorf("%d targets are still leaving: %s", len(record.Held)+len(record.Releasing), p.Report.Plan.Summary())
	}
	if err := ledger.Forget(ctx); err != nil {
		return err
	}
	r.gaveUp(ctx, record, missingGroup)
	return nil
}

func groupMissing(report pass.Report) bool {
	for _, s := range report.Plan.Steps {
		if errors.Is(s.Err, ownership.ErrGroupMissing) {
			return true
		}
	}
	return false
}
