package pass

import (
	"cmp"
	"errors"
	"slices"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/plan"
)

func (p *Pass) note(events ...history.Event) {
	p.Report.Events = append(p.Report.Events, events...)
}

// event is about the target of a step, and names the others because of whom
// the step is what it is.
func (p *Pass) event(what history.What, s plan.Step) history.Event {
	e := history.Event{What: what, Reason: string(s.Reason), Targets: []ownership.Target{s.Target}}
	if p.Why != nil {
		e.Reason = cmp.Or(p.Why(s), e.Reason)
	}
	look := p.Ledger.Current()
	if look == nil {
		return e
	}
	holding, releasing := look.Owners(s.Target)
	switch s.Reason {
	case plan.HeldByOther, plan.GiveBack:
		e.Others = names(holding)
	case plan.BlockedByOther:
		e.Others = names(releasing)
	}
	return e
}

// Because gives one reason for all that is not wanted.
func Because(why string) func(plan.Step) string {
	return func(s plan.Step) string {
		if s.Reason == plan.Unwanted {
			return why
		}
		return ""
	}
}

func names(owners []ownership.Owner) []string {
	var list []string
	for _, o := range owners {
		list = append(list, o.String())
	}
	return list
}

// flagged is what the flag of the plan says, before it is written. To flag
// anew what is flagged already says nothing new.
func (p *Pass) flagged(claims bool) []history.Event {
	var events []history.Event
	add := func(what history.What, s plan.Step) {
		if p.Ledger.State(s.Target).Lost {
			s.Reason = plan.RecordLost
		}
		events = append(events, p.event(what, s))
	}
	for _, s := range p.Report.Plan.Steps {
		switch {
		case s.Action == plan.Claim && claims:
			add(history.Claimed, s)
		case s.Action == plan.Release && s.Reason != plan.FlagExpired:
			add(history.Releasing, s)
		}
	}
	return events
}

func (p *Pass) dropped() []history.Event {
	var events []history.Event
	for _, s := range p.Report.Plan.Steps {
		switch {
		case s.Action == plan.Drop && s.Reason == plan.HeldByOther:
			events = append(events, p.event(history.Kept, s))
		case s.Action == plan.Drop:
			events = append(events, p.event(history.Released, s))
		}
	}
	return events
}

// noteCalled notes the targets that the load balancer confirmed.
func (p *Pass) noteCalled(what history.What, action plan.Action, done []ownership.Target) {
	confirmed := make(ownership.Set, len(done))
	for _, t := range done {
		confirmed[t] = true
	}
	for _, s := range p.Report.Plan.Steps {
		if s.Action == action && confirmed[s.Target] {
			p.note(p.event(what, s))
		}
	}
}

// refusals are the failures that last: somebody has to do something about
// them, or has decided so. The others are over as soon as AWS answers again.
var refusals = []error{
	ownership.ErrGroupFull, ownership.ErrInvalidTarget, ownership.ErrGroupForbidden, ownership.ErrGroupMissing,
}

// standing is what the last plan left undone because of others or a refusal.
func (p *Pass) standing() []history.Event {
	var events []history.Event
	for _, s := range p.Report.Plan.Steps {
		switch {
		case s.Action == plan.Wait && (s.Reason == plan.BlockedByOther || s.Reason == plan.Unreadable):
			events = append(events, p.event(history.Blocked, s))
		case s.Action == plan.Wait && lasting(s.Err):
			e := p.event(history.Refused, s)
			e.Reason = s.Err.Error()
			events = append(events, e)
		case s.Action == plan.Claim && p.Report.TooLarge != nil:
			e := p.event(history.Refused, s)
			e.Reason = p.Report.TooLarge.Error()
			events = append(events, e)
		}
	}
	return events
}

func lasting(err error) bool {
	return slices.ContainsFunc(refusals, func(class error) bool { return errors.Is(err, class) })
}
