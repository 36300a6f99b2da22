package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// Groups is the target groups, as far as a pass over them needs it.
type Groups interface {
	Lister
	pass.Group
}

// TakeOut takes the targets of a cluster that is gone out of its groups, on
// its behalf and by the protocol's own pass: whatever another owner holds
// stays, and a controller that is alive after all ends it at the next write.
//
// The caller has made sure that the cluster is silent.
type TakeOut struct {
	Table   Table
	Groups  Groups
	Cluster string
	Only    ownership.GroupARN // one group, or all if empty
	Owner   ownership.Owner    // one owner, in the group Only; or all if zero
	// Healthy takes out targets also if the load balancer finds them healthy:
	// the pods of a cluster may outlive its control plane.
	Healthy bool
	Version string // of this program, for people who read the record
	Why     string // for the history
	// Tell, if there is one, is called with what each pass did.
	Tell func(ownership.Key, []history.Event)
	// Progress is called for each record, as often as what is left of it
	// changes.
	Progress func(Progress)
}

// Progress is where the record of an owner stands.
type Progress struct {
	Key       ownership.Key
	Left      int // targets of the record
	Healthy   int // of these, targets that stay because they are healthy
	Summary   string
	Completed bool // nothing is left to do
}

// pollGroup is how often a group is looked at that a record waits for.
const pollGroup = 5 * time.Second

// leaving is a record on its way out.
type leaving struct {
	key    ownership.Key
	ledger *ownership.Ledger
	last   Progress
	failed error // why its group could not be read
}

// Run returns when each record is empty and gone, or holds healthy targets
// alone. That takes at least [ownership.Settle], since calls of the cluster may
// be under way. It returns how many healthy targets stay.
//
// Errors are those of the table and of the context, those of the load
// balancer's listings once all other groups are done, and [ErrAlive] if somebody else writes a record. It can be run
// again after any of them.
func (o TakeOut) Run(ctx context.Context) (stay int, err error) {
	records, err := o.records(ctx)
	if err != nil {
		return 0, err
	}
	for {
		left := 0
		stay = 0
		for _, r := range records {
			if err := o.advance(ctx, r); err != nil {
				return 0, err
			}
			if stay += r.last.Healthy; !r.last.Completed && r.failed == nil {
				left++
			}
		}
		if left == 0 {
			return stay, failures(records)
		}
		if err := Wait(ctx, pollGroup); err != nil {
			return 0, err
		}
	}
}

func (o TakeOut) records(ctx context.Context) ([]*leaving, error) {
	keys, err := o.keys(ctx)
	if err != nil {
		return nil, err
	}
	var records []*leaving
	for _, key := range keys {
		if o.Only != "" && key.Group != o.Only {
			continue
		}
		id := ownership.Identity{Group: key.Group, Owner: key.Owner, ControllerVersion: o.Version}
		records = append(records, &leaving{key: key, ledger: ownership.NewLedger(o.Table, id, ownership.Env{Now: time.Now, NewID: rand.Text})})
	}
	return records, nil
}

// keys needs no index, which lags, where the owner is known.
func (o TakeOut) keys(ctx context.Context) ([]ownership.Key, error) {
	if o.Owner != (ownership.Owner{}) {
		return []ownership.Key{{Group: o.Only, Owner: o.Owner}}, nil
	}
	return o.Table.Groups(ctx, o.Cluster)
}

// advance makes a pass over a record that is not done. A group that cannot be
// read holds up no other.
func (o TakeOut) advance(ctx context.Context, r *leaving) error {
	if r.last.Completed || r.failed != nil {
		return nil
	}
	now, err := o.pass(ctx, r.key, r.ledger)
	if err != nil {
		err = fmt.Errorf("take the targets of %s out of %s: %w", r.key.Owner, r.key.Group.Name(), err)
		if ctx.Err() == nil && ofLoadBalancer(err) {
			r.failed = err
			return nil
		}
		return err
	}
	if now != r.last && o.Progress != nil {
		o.Progress(now)
	}
	r.last = now
	return nil
}

func ofLoadBalancer(err error) bool {
	return slices.ContainsFunc([]error{ownership.ErrGroupForbidden, ownership.ErrGroupThrottled, ownership.ErrGroupUnavailable},
		func(class error) bool { return errors.Is(err, class) })
}

func failures(records []*leaving) error {
	var errs []error
	for _, r := range records {
		errs = append(errs, r.failed)
	}
	return errors.Join(errs...)
}

// pass makes one pass over a record. It wants what is healthy, unless that is
// to go as well.
func (o TakeOut) pass(ctx context.Context, key ownership.Key, ledger *ownership.Ledger) (Progress, error) {
	ledger.Begin(time.Now())
	read := ledger.Look
	if ledger.Loaded() {
		read = ledger.Reread
	}
	if err := read(ctx); err != nil {
		return Progress{}, alive(err)
	}
	health, err := o.Groups.Health(ctx, key.Group)
	if errors.Is(err, ownership.ErrGroupMissing) {
		return Progress{Key: key, Completed: true}, ledger.Forget(ctx)
	}
	if err != nil {
		return Progress{}, err
	}
	ledger.Listed(health.present())
	kept := o.kept(ledger.Record(), health)
	if len(kept) == len(ledger.Record().Held) && len(ledger.Record().Releasing) == 0 && len(kept) > 0 {
		return Progress{Key: key, Left: len(kept), Healthy: len(kept), Completed: true}, nil
	}
	p := pass.Pass{Ledger: ledger, Group: o.Groups, Binding: plan.Binding{Want: kept}, Now: time.Now, Why: pass.Because(o.Why)}
	err = p.Run(ctx)
	if o.Tell != nil && len(p.Report.Events) > 0 {
		o.Tell(key, p.Report.Events)
	}
	if err != nil {
		return Progress{}, alive(err)
	}
	return o.progress(ctx, key, ledger, kept, p.Report.Plan)
}

func (o TakeOut) progress(ctx context.Context, key ownership.Key, ledger *ownership.Ledger, kept ownership.Set, last plan.Plan) (Progress, error) {
	own := ledger.Record()
	p := Progress{Key: key, Left: len(own.Held) + len(own.Releasing), Healthy: len(kept), Summary: last.Summary()}
	if !ledger.Finished() {
		return p, nil
	}
	p.Completed = true
	return p, ledger.Forget(ctx)
}

// kept are the targets that stay because they are healthy: held ones. One that
// its owner was taking out already goes on leaving.
func (o TakeOut) kept(own ownership.Record, health Health) ownership.Set {
	kept := ownership.Set{}
	for t := range own.Held {
		if health[t] == healthy && !o.Healthy {
			kept[t] = true
		}
	}
	return kept
}

// present are the targets that are registered and not on their way out.
func (h Health) present() ownership.Set {
	set := ownership.Set{}
	for t, state := range h {
		if state != draining {
			set[t] = true
		}
	}
	return set
}

// alive tells what a conflict means here.
func alive(err error) error {
	if errors.Is(err, ownership.ErrConflict) {
		return fmt.Errorf("%w: %w", ErrAlive, err)
	}
	return err
}
