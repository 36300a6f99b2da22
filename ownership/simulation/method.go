package simulation

import (
	"context"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// Method is a way to share a group: what a controller does in a pass.
type Method interface {
	Name() string
	// Start returns the reconciler of one binding in a process that has just
	// started and knows nothing.
	Start(Env) Reconciler
}

// Reconciler brings the group to what one binding wants.
type Reconciler interface {
	Reconcile(context.Context, Binding) (Report, error)
}

// Binding is what a pass goes by.
type Binding struct {
	Want      ownership.Set
	Began     time.Time // when Want was read
	Exclusive bool
	Deleted   bool // it wants nothing and is to leave nothing behind
	Reread    bool // the pass is to begin with a reading of the records
	Compare   bool // and to list the group
}

// Report is what a pass that ended without error says.
type Report struct {
	InPlace ownership.Set // wanted, and registered as far as the controller knows
	Done    bool          // a deleted binding has left nothing behind
}

// Env is the world as one reconciler sees it. Every call may pause, fail or
// be late.
type Env struct {
	Owner ownership.Owner
	UID   string
	Now   func() time.Time
	NewID func() string
	Table ownership.Store // shared by all clusters
	List  List            // the cluster's own
	Group Caller
}

// Caller is the target group.
type Caller interface {
	pass.Group
	// Call makes a call without a permission, for methods that know none.
	Call(v Verb, targets []ownership.Target, deadline time.Time) ownership.Result
	// List returns the members, perhaps as they were a while ago.
	List() (ownership.Set, error)
}

// List is a list of targets that a cluster keeps for one binding in its own
// API server, as in a ConfigMap. Other clusters do not see it, and it ends
// with the cluster. Saves are unconditional.
type List interface {
	Load(context.Context) (targets ownership.Set, found bool, err error)
	Save(context.Context, ownership.Set) error
	Delete(context.Context) error
}

// Protocol is the method of this project, as the controller runs it.
type Protocol struct{}

// Name implements [Method].
func (Protocol) Name() string { return "ownership table" }

// Start implements [Method].
func (Protocol) Start(env Env) Reconciler {
	id := ownership.Identity{Group: arn, Owner: env.Owner, BindingUID: env.UID}
	return &protocol{env, ownership.NewLedger(env.Table, id, ownership.Env{Now: env.Now, NewID: env.NewID})}
}

type protocol struct {
	env    Env
	ledger *ownership.Ledger
}

func (p *protocol) Reconcile(ctx context.Context, b Binding) (Report, error) {
	p.ledger.Begin(b.Began)
	if err := p.compare(ctx, b); err != nil {
		return Report{}, err
	}
	run := pass.Pass{Ledger: p.ledger, Group: p.env.Group, Now: p.env.Now,
		Binding: plan.Binding{Want: b.Want, Exclusive: b.Exclusive && !b.Deleted}}
	if err := run.Run(ctx); err != nil {
		return Report{}, err
	}
	report := Report{InPlace: ownership.Set{}}
	for _, t := range run.Report.Plan.Targets(plan.Keep) {
		report.InPlace[t] = true
	}
	if b.Deleted && p.ledger.Loaded() && p.ledger.Record().Empty() {
		err := p.ledger.Forget(ctx)
		report.Done = err == nil
		return report, err
	}
	return report, nil
}

func (p *protocol) compare(ctx context.Context, b Binding) error {
	if !b.Reread && p.ledger.Loaded() {
		return nil
	}
	if err := p.ledger.Reread(ctx); err != nil || !b.Compare {
		return err
	}
	if listing, err := p.env.Group.List(); err == nil {
		p.ledger.Listed(listing)
	}
	return nil
}
