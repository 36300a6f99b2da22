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
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// Orphans finishes what bindings left behind that are gone without their
// finalizer, or that moved to another group: records of this cluster that no
// binding stands for.
type Orphans struct {
	Reconciler *Reconciler
	Claim      Claim
	// Period is the time between two sweeps.
	Period time.Duration

	// known outlives a sweep: a release may have to settle before it ends.
	known map[ownership.Key]*orphan
}

// Claim tells whether the cluster ID is still ours, as [cluster.Gate] does. An
// orphan is nobody's but for the ID in its key, so that a process which goes on
// after its ID was given away would take the new owner's records for orphans.
type Claim interface {
	Mark() cluster.Mark
	// CheckSince demands a confirmation of the ID that is newer than the mark.
	CheckSince(cluster.Mark) error
}

// orphan is a record that may be one.
type orphan struct {
	ledger *ownership.Ledger
	read   cluster.Mark // after all that the ledger knows was read
}

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

// finish releases the targets of an orphaned record and deletes it.
func (o *Orphans) finish(ctx context.Context, key ownership.Key) error {
	if o.Reconciler.working(key) { // its status may not name the group yet
		delete(o.known, key)
		return nil
	}
	record, err := o.record(ctx, key)
	if err != nil {
		return err
	}
	orphaned, err := o.Reconciler.orphaned(ctx, key)
	if err != nil || !orphaned {
		delete(o.known, key)
		return err
	}
	if err := o.Claim.CheckSince(record.read); err != nil {
		return err
	}
	if err := o.Reconciler.clear(ctx, record.ledger); err != nil {
		record.read = o.Claim.Mark()
		return err
	}
	delete(o.known, key)
	return nil
}

// record reads the record before anybody asks whether it is orphaned, and
// whose the cluster ID is: a binding that is made anew after that, or another
// cluster, writes a record of another revision, which the ledger's own writes
// do not touch.
func (o *Orphans) record(ctx context.Context, key ownership.Key) (*orphan, error) {
	record, ok := o.known[key]
	if !ok {
		record = &orphan{ledger: o.Reconciler.ledger(key, "")}
		o.known[key] = record
	}
	record.ledger.Begin(o.Reconciler.Clock.Now())
	if record.ledger.Loaded() {
		return record, nil
	}
	err := record.ledger.Look(ctx)
	record.read = o.Claim.Mark()
	return record, err
}

// working reports whether this process brings targets into the group for a
// binding of that name.
func (r *Reconciler) working(key ownership.Key) bool {
	st := r.states.get(client.ObjectKey{Namespace: key.Owner.Namespace, Name: key.Owner.Name})
	return st != nil && st.group.ARN == key.Group
}

// orphaned asks the API server, not a cache, whether a binding stands for
// the record. What cannot be told is not orphaned.
func (r *Reconciler) orphaned(ctx context.Context, key ownership.Key) (bool, error) {
	var b v1beta1.TargetGroupBinding
	name := client.ObjectKey{Namespace: key.Owner.Namespace, Name: key.Owner.Name}
	if err := r.Live.Get(ctx, name, &b); err != nil {
		// A bare 404 is the answer of something in between, or of an API
		// server that does not know the kind just now.
		absent := apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
		if absent {
			return true, nil
		}
		return false, err
	}
	if b.Spec.TargetGroupARN != "" {
		return b.Spec.TargetGroupARN != string(key.Group), nil
	}
	// A name may stand for another group than the status last said: what this
	// process found for it decides.
	st := r.states.get(name)
	return st != nil && st.group.ARN != key.Group, nil
}

// clear brings the record to its end: nothing is wanted. An error says what
// it still waits for.
func (r *Reconciler) clear(ctx context.Context, ledger *ownership.Ledger) error {
	p := pass.Pass{Ledger: ledger, Group: r.Groups, Binding: plan.Binding{}, Now: r.Clock.Now}
	err := p.Run(ctx)
	record := ledger.Record()
	r.account(record, p.Report.Events)
	if err != nil {
		return err
	}
	if !record.Empty() && !groupMissing(p.Report) {
		return fmt.Errorf("%d targets are still leaving: %s", len(record.Held)+len(record.Releasing), p.Report.Plan.Summary())
	}
	if err := ledger.Forget(ctx); err != nil {
		return err
	}
	r.gaveUp(record, missingGroup)
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
