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

	// ledgers outlive a sweep: a release may have to settle before it ends.
	ledgers map[ownership.Key]*ownership.Ledger
}

// NeedLeaderElection is for the manager: only the leader writes records.
func (o *Orphans) NeedLeaderElection() bool { return true }

// pollGate is how soon a sweep is tried again that was not allowed: after a
// start the first one would otherwise be a whole period late.
const pollGate = time.Second

// Start sweeps until the context ends.
func (o *Orphans) Start(ctx context.Context) error {
	o.ledgers = map[ownership.Key]*ownership.Ledger{}
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
	for key := range o.ledgers {
		if !slices.Contains(keys, key) {
			keys = append(keys, key) // its row is lost, its targets may not be
		}
	}
	next := o.Period
	for _, key := range keys {
		if err := o.finish(ctx, key); err != nil {
			logger.Info("record not finished yet", "owner", key.Owner.String(), "targetGroup", key.Group, "message", err.Error())
			next = min(next, maxRetry)
		}
	}
	return next
}

// finish releases the targets of an orphaned record and deletes it.
func (o *Orphans) finish(ctx context.Context, key ownership.Key) error {
	if o.Reconciler.working(key) {
		return nil // its status may not name the group yet
	}
	ledger, err := o.ledger(ctx, key)
	if err != nil {
		return err
	}
	orphaned, err := o.Reconciler.orphaned(ctx, key)
	if err != nil || !orphaned {
		delete(o.ledgers, key)
		return err
	}
	if err := o.Reconciler.clear(ctx, ledger); err != nil {
		return err
	}
	delete(o.ledgers, key)
	return nil
}

// ledger reads the record before anybody asks whether it is orphaned: a
// binding that is made anew after that writes a record of another revision,
// which the ledger's own writes do not touch.
func (o *Orphans) ledger(ctx context.Context, key ownership.Key) (*ownership.Ledger, error) {
	ledger, ok := o.ledgers[key]
	if !ok {
		ledger = o.Reconciler.ledger(key, "")
		o.ledgers[key] = ledger
	}
	ledger.Begin(o.Reconciler.Clock.Now())
	if ledger.Loaded() {
		return ledger, nil
	}
	return ledger, ledger.Look(ctx)
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
	if err := p.Run(ctx); err != nil {
		return err
	}
	if record := ledger.Record(); !record.Empty() && !groupMissing(p.Report) {
		return fmt.Errorf("%d targets are still leaving: %s", len(record.Held)+len(record.Releasing), p.Report.Plan.Summary())
	}
	return ledger.Forget(ctx)
}

func groupMissing(report pass.Report) bool {
	for _, s := range report.Plan.Steps {
		if errors.Is(s.Err, ownership.ErrGroupMissing) {
			return true
		}
	}
	return false
}
