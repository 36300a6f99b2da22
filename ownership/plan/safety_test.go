package plan

import (
	"testing"

	"target-ownership-controller/ownership"
)

// These hold for every combination of inputs, and do not ask how Decide or
// the truth table come to their answers.
func TestSafety(t *testing.T) {
	for in := range combinations() {
		s, step := in.state, Decide(in.want, in.exclusive, in.state)
		leaving, returning := !s.LeaveBy.IsZero(), !s.ReturnBy.IsZero()
		holds := map[Action]bool{
			Deregister: !in.want && s.Entry == ownership.Releasing && s.Looked && !s.Expired &&
				!s.Others.Hold && !s.Others.Unreadable,
			Register: s.Looked && !leaving &&
				(in.want && s.Entry == ownership.Held && !s.Others.Release ||
					!in.want && s.Entry == ownership.Releasing && s.Others.Hold),
			Drop: !in.want && s.Entry == ownership.Releasing && s.Looked && !leaving && !returning &&
				(s.Others.Hold || s.Presence == ownership.Gone),
			Claim: in.want && (s.Entry == ownership.Unrecorded || s.Entry == ownership.Releasing && !leaving),
			Release: !in.want && (s.Entry != ownership.Unrecorded || s.Lost ||
				in.exclusive && s.Listed && s.Looked && s.Others == ownership.Others{}),
			Keep:   in.want && s.Entry == ownership.Held && s.Presence == ownership.Registered,
			Ignore: !in.want && s.Entry == ownership.Unrecorded && !s.Lost,
			Look:   !s.Looked,
			Wait:   s.Entry != ownership.Unrecorded || in.exclusive,
		}
		if !holds[step.Action] {
			t.Fatalf("%s (%s) is not allowed for %+v", step.Action, step.Reason, in)
		}
		if holds[Keep] && step.Action != Keep {
			t.Fatalf("%s (%s) of a target that is wanted, held and registered: %+v", step.Action, step.Reason, in)
		}
		if step.Target != s.Target {
			t.Fatalf("a decision about %q for %+v", step.Target, in)
		}
		checkWait(t, in, step)
	}
}

// A wait says what it waits for, as far as that is known.
func checkWait(t *testing.T, in input, step Step) {
	t.Helper()
	if (step.Reason == CallFailed || step.Reason == RefusedLately) != (step.Err != nil) {
		t.Fatalf("reason %q with error %v for %+v", step.Reason, step.Err, in)
	}
	if (step.Reason == Settling || step.Reason == RefusedLately) == step.Until.IsZero() {
		t.Fatalf("reason %q until %v for %+v", step.Reason, step.Until, in)
	}
	// A dropping target waits for the later of the two.
	if step.Reason == Settling && !in.want && !in.state.Others.Hold && !in.state.ReturnBy.IsZero() && step.Until != later {
		t.Fatalf("waits until %v and not %v for %+v", step.Until, later, in)
	}
}
