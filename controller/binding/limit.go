package binding

import (
	"fmt"

	"target-ownership-controller/controller/policy"
	"target-ownership-controller/ownership"
)

// limited is what policies leave of what a binding wants.
type limited struct {
	endpoints ownership.Set            // all that it could have
	ranks     map[ownership.Target]int // nil without a limit
	held      int                      // before the pass
	to        policy.Limit
}

// The ranks of targets of which not all can be had: nothing that is held or
// registered is exchanged.
const (
	rankHeld = iota
	rankListed
	rankNew
)

// limit chooses what the binding may have of what it wants.
func (b *round) limit() {
	ledger := b.state.ledger
	l := limited{endpoints: b.want}
	if b.policy.Limits() { // to look at every target is not for every pass
		l.ranks = ranks(b.want, ledger)
	}
	l.held, _ = ledger.Unwanted(nil)
	now := others(ledger.Current())
	if !now.All {
		l.held = max(l.held, b.state.room)
	}
	b.limited = l
	b.want = b.choose(now)
	if now.All {
		b.state.room = len(b.want)
	}
}

// choose goes by what was held before the pass, which may have flagged some of
// it by now.
func (b *round) choose(o policy.Others) ownership.Set {
	l := &b.limited
	l.to = b.policy.Limit(l.endpoints, l.held, o)
	return policy.Choose(l.endpoints, l.to.Targets, func(t ownership.Target) int { return l.ranks[t] })
}

func ranks(want ownership.Set, ledger *ownership.Ledger) map[ownership.Target]int {
	ranks := make(map[ownership.Target]int, len(want))
	for t := range want {
		ranks[t] = rank(ledger.State(t))
	}
	return ranks
}

func rank(s ownership.State) int {
	switch {
	case s.Entry == ownership.Held || s.Lost:
		return rankHeld
	case s.Listed:
		return rankListed
	default:
		return rankNew
	}
}

// others is what a look knows of others; nil knows nothing.
func others(look *ownership.Look) policy.Others {
	if look == nil {
		return policy.Others{}
	}
	held, all := look.HeldByOthers()
	return policy.Others{Held: held, All: all}
}

// leftOut says how many endpoints the policies leave out; empty if none.
func (b *round) leftOut() string {
	n := len(b.limited.endpoints) - len(b.want)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d endpoints left out: %s", n, len(b.limited.endpoints), b.limited.to.Why)
}
