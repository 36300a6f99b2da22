// Package pass brings one target group to what one owner wants: plan, flag,
// look, act, drop, until nothing is left to do but wait. It is the only place
// where the stages of the protocol meet their order.
package pass

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/plan"
)

// Group is the target group, as far as a pass needs it.
type Group interface {
	Register(context.Context, ownership.Admission) ownership.Result
	Deregister(context.Context, ownership.Removal) ownership.Result
}

// maxStages bounds a pass. A target needs at most: look, flag, look, act,
// look, give back, look, act, drop; a pass that goes on is a fault of ours.
const maxStages = 20

// Pass is one pass of one owner over one group.
type Pass struct {
	Ledger  *ownership.Ledger
	Group   Group
	Binding plan.Binding
	Now     func() time.Time

	// Why is why a step is taken, for the history, where that is not the reason
	// that the plan has; nil or empty if it is.
	Why func(plan.Step) string

	// Looked, if set, is told each look, and may add to what is wanted: a target
	// that is being released, and not out yet, is then held again.
	Looked func(*ownership.Look)

	// ReleaseFirst has targets leave before others join.
	ReleaseFirst bool

	// SideBySide lets a registration and a deregistration be under way at the
	// same time. Without it calls have an order that can be replayed.
	SideBySide bool

	// Report is filled in as the pass goes on, and holds what was done also
	// when it ends with an error.
	Report Report

	noClaims error // our record cannot grow
}

// Report is what a pass did and where it left the targets.
type Report struct {
	Registered   []ownership.Target
	Deregistered []ownership.Target
	// Plan is the last one. After a pass without error its steps are all
	// Keep and Wait, and claims where TooLarge is set.
	Plan plan.Plan
	// TooLarge is set when the record has no room for the claims.
	TooLarge error

	// Events are what was done, in order, also by a pass that ended early.
	Events []history.Event
	// Standing are what the last plan could not do because of others or since
	// it was refused. The next pass has them again, until they are over.
	Standing []history.Event
}

// Run carries out the pass. An error ends it early: of the store, or
// [ownership.ErrConflict] when another process writes our record. Failures of
// single targets are steps of the last plan instead.
func (p *Pass) Run(ctx context.Context) error {
	for range maxStages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !p.Ledger.Loaded() {
			if err := p.Ledger.Look(ctx); err != nil {
				return err
			}
		}
		if look := p.Ledger.Current(); look != nil && p.Looked != nil {
			p.Looked(look)
		}
		p.Report.Plan = plan.Make(p.Binding, p.Ledger.States(p.Binding.Want))
		more, err := p.stage(ctx)
		if err != nil {
			return err
		}
		if !more {
			p.Report.Standing = p.standing()
			return nil
		}
	}
	return fmt.Errorf("the pass did not come to an end; its last plan was: %s", p.Report.Plan.Summary())
}

// stage carries out the first stage that the plan asks for.
func (p *Pass) stage(ctx context.Context) (more bool, err error) {
	next := p.Report.Plan
	switch {
	case p.Ledger.Inherited(), p.Ledger.ModeChanged(), next.Has(plan.Claim) && p.noClaims == nil, next.Has(plan.Release):
		return true, p.flag(ctx)
	case next.Has(plan.Look):
		return true, p.Ledger.Reread(ctx)
	case next.Has(plan.Register, plan.Deregister):
		p.act(ctx)
		return true, nil
	case next.Has(plan.Drop):
		return true, p.drop(ctx)
	default:
		return false, nil
	}
}

// flag writes claims and releases together. When the record has no room for
// the claims the releases still go through.
func (p *Pass) flag(ctx context.Context) error {
	var claims []ownership.Target
	if p.noClaims == nil {
		claims = p.Report.Plan.Targets(plan.Claim)
	}
	flagged := p.flagged(len(claims) > 0)
	err := p.Ledger.Flag(ctx, claims, p.Report.Plan.Targets(plan.Release))
	if err == nil {
		p.note(flagged...)
	}
	if errors.Is(err, ownership.ErrTooLarge) && len(claims) > 0 {
		p.noClaims, p.Report.TooLarge = err, err
		return nil
	}
	return err
}

func (p *Pass) drop(ctx context.Context) error {
	dropped := p.dropped() // while the look is there that says who holds what
	err := p.Ledger.Drop(ctx, p.Report.Plan.Targets(plan.Drop))
	if err == nil {
		p.note(dropped...)
	}
	return err
}

// act registers first, so that a change of all targets never leaves the group
// empty. While others of ours stay it does both at once: before its first health
// checks have passed a new target gets no requests anyway
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/application/target-group-health-checks.html).
// Only when the group is full do our own dead targets leave before the rest
// joins, or if the owner wants it so. Targets that were refused before come
// last, so that they hold up nothing.
func (p *Pass) act(ctx context.Context) {
	look, steps := p.Ledger.Current(), p.Report.Plan
	removal := look.Remove(steps.Targets(plan.Deregister))
	deregister := sync.OnceValue(func() departure { return p.deregister(ctx, removal) })
	left := sync.OnceValue(func() int { return p.left(deregister()) })
	switch {
	case p.ReleaseFirst:
		left()
	case p.SideBySide && steps.Has(plan.Keep):
		go deregister()
	}
	full := p.register(ctx, look.Admit(steps.Targets(plan.Register, plan.Unconfirmed, plan.GiveBack)))
	if left() > 0 && len(full) > 0 {
		p.register(ctx, look.Admit(full))
	}
	p.register(ctx, look.Admit(steps.Targets(plan.Register, plan.RefusedBefore)))
}

func (p *Pass) register(ctx context.Context, a ownership.Admission) (full []ownership.Target) {
	if len(a.Targets()) == 0 {
		return nil
	}
	result := p.Group.Register(ctx, a)
	p.Ledger.Registered(result)
	p.Report.Registered = append(p.Report.Registered, result.Done...)
	p.noteCalled(history.Registered, plan.Register, result.Done)
	for t, err := range result.Refused {
		if errors.Is(err, ownership.ErrGroupFull) {
			full = append(full, t)
		}
	}
	slices.Sort(full)
	return full
}

// departure is a deregistration and when it was begun.
type departure struct {
	result ownership.Result
	begun  time.Time
}

func (p *Pass) deregister(ctx context.Context, r ownership.Removal) departure {
	begun := p.Now()
	if len(r.Targets()) == 0 || r.Left(begun) < 0 {
		return departure{} // registrations took their time: the flag is written anew
	}
	return departure{p.Group.Deregister(ctx, r), begun}
}

func (p *Pass) left(d departure) int {
	p.Ledger.Deregistered(d.result, d.begun)
	p.Report.Deregistered = append(p.Report.Deregistered, d.result.Done...)
	p.noteCalled(history.Deregistered, plan.Deregister, d.result.Done)
	return len(d.result.Done)
}
