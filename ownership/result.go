package ownership

import "errors"

// Result says what became of each target of one register or deregister. A
// target is in exactly one of the three.
type Result struct {
	// Done: the load balancer confirmed it.
	Done []Target
	// Refused: the load balancer refused it, or the call was never sent.
	Refused map[Target]error
	// Unsure: the call was sent and its fate is unknown. It has landed
	// within [Settle], or never will.
	Unsure map[Target]error
}

// The classes of errors of a target group. Errors of a [Result] wrap one of
// them where it applies.
var (
	// ErrGroupFull: the group has no room for the target.
	ErrGroupFull = errors.New("the target group is full")
	// ErrInvalidTarget: the load balancer does not take this target.
	ErrInvalidTarget = errors.New("the load balancer refuses the target")
	// ErrGroupMissing: there is no such target group.
	ErrGroupMissing = errors.New("the target group does not exist")
	// ErrGroupForbidden: the identity may not make the call.
	ErrGroupForbidden = errors.New("access to the target group is denied")
	// ErrGroupThrottled: the call was refused for now.
	ErrGroupThrottled = errors.New("the load balancer API is throttling")
	// ErrGroupUnavailable: no usable answer.
	ErrGroupUnavailable = errors.New("the load balancer API is unreachable")
	// ErrNotTried: too many others of the same call were refused; the target
	// has its turn in the next pass.
	ErrNotTried = errors.New("not tried yet, since the load balancer refuses others")
	// ErrLookExpired: too much time has passed since the look; look again.
	ErrLookExpired = errors.New("the permission has expired")
)
