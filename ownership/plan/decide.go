package plan

import (
	"errors"
	"time"

	"target-ownership-controller/ownership"
)

// Decide is the truth table of the protocol: what to do about one target.
// The table in docs/protocol/truth-table.md lists its rows, and each is a
// test.
func Decide(want, exclusive bool, s ownership.State) Step {
	step := func(a Action, r Reason) Step { return Step{Target: s.Target, Action: a, Reason: r} }
	switch s.Entry {
	case ownership.Held:
		if !want {
			return step(Release, Unwanted)
		}
		return holding(s, step)
	case ownership.Releasing:
		if want {
			return returning(s, step)
		}
		return releasing(s, step)
	default:
		return unrecorded(want, exclusive, s, step)
	}
}

type stepper func(Action, Reason) Step

func unrecorded(want, exclusive bool, s ownership.State, step stepper) Step {
	switch {
	case want:
		return step(Claim, Wanted)
	case s.Lost:
		return step(Release, RecordLost)
	case !exclusive || !s.Listed:
		return step(Ignore, NotOurs)
	case !s.Looked:
		return step(Look, NotLooked)
	case s.Others.Hold || s.Others.Release:
		return step(Ignore, ForeignHeld)
	case s.Others.Unreadable:
		return step(Wait, Unreadable)
	default:
		return step(Release, ExclusiveForeign)
	}
}

// holding is for a target that we hold and want. A listing never makes up
// for the look: it may show a registration that a releasing owner is about
// to undo.
func holding(s ownership.State, step stepper) Step {
	switch {
	case s.Presence == ownership.Registered:
		return step(Keep, Confirmed)
	case s.FailedNow != nil:
		return failed(s, step)
	case !s.RetryAt.IsZero():
		return refused(s, step)
	case !s.Looked:
		return step(Look, NotLooked)
	case s.Others.Release:
		return step(Wait, BlockedByOther)
	case !s.LeaveBy.IsZero():
		return until(s.LeaveBy, step(Wait, Settling))
	case s.Refused != nil:
		return step(Register, RefusedBefore)
	default:
		return step(Register, Unconfirmed)
	}
}

// returning is for a target that we release and want again. While one of our
// deregistrations may still land, to register it would be to lose it later;
// after that there is nothing left to undo, and no need to take it out first.
func returning(s ownership.State, step stepper) Step {
	if !s.LeaveBy.IsZero() {
		return until(s.LeaveBy, step(Wait, Settling))
	}
	return step(Claim, WantedAgain)
}

// releasing is for a target that we are about to take out. It stays in our
// record until no call of ours can change the group any more: a late
// deregistration would take it from its next owner, a late registration
// would leave it behind with no owner at all.
func releasing(s ownership.State, step stepper) Step {
	switch {
	case !s.Looked:
		return step(Look, NotLooked)
	case s.Others.Hold:
		return yielding(s, step)
	case s.Others.Unreadable:
		return step(Wait, Unreadable)
	case s.Presence != ownership.Gone && s.FailedNow != nil:
		return failed(s, step)
	case s.Presence != ownership.Gone && !s.RetryAt.IsZero():
		return refused(s, step)
	case s.Presence != ownership.Gone && s.Expired:
		return step(Release, FlagExpired)
	case s.Presence != ownership.Gone:
		return step(Deregister, NobodyHolds)
	default:
		return dropping(s, step(Drop, Deregistered))
	}
}

// yielding is for a target that we release and another owner holds. The
// holder waits for us until Settle after our flag. Should a call of ours have
// landed later than that, it may have undone the holder's registration, so we
// give the target back. What the load balancer does not take from us it would
// not take from the holder either, who will see it missing.
func yielding(s ownership.State, step stepper) Step {
	switch {
	case !s.LeaveBy.IsZero():
		return until(s.LeaveBy, step(Wait, Settling))
	case s.Late && s.Presence != ownership.Registered && unregistrable(s.FailedNow):
		return dropping(s, step(Drop, HeldByOther))
	case s.Late && s.Presence != ownership.Registered && s.FailedNow != nil:
		return failed(s, step)
	case s.Late && s.Presence != ownership.Registered:
		return step(Register, GiveBack)
	default:
		return dropping(s, step(Drop, HeldByOther))
	}
}

func dropping(s ownership.State, drop Step) Step {
	last := s.LeaveBy
	if s.ReturnBy.After(last) {
		last = s.ReturnBy
	}
	if last.IsZero() {
		return drop
	}
	return until(last, Step{Target: drop.Target, Action: Wait, Reason: Settling})
}

func unregistrable(err error) bool {
	return errors.Is(err, ownership.ErrGroupFull) || errors.Is(err, ownership.ErrInvalidTarget)
}

func failed(s ownership.State, step stepper) Step {
	wait := step(Wait, CallFailed)
	wait.Err = s.FailedNow
	return wait
}

func refused(s ownership.State, step stepper) Step {
	wait := step(Wait, RefusedLately)
	wait.Err = s.Refused
	return until(s.RetryAt, wait)
}

func until(t time.Time, s Step) Step {
	s.Until = t
	return s
}
