package audit

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

const (
	// unit is what a table counts a write by, in bytes.
	unit = 1 << 10

	// perSecond and atOnce are how many units are written. A pass that replaces
	// 50 targets has 10 of them; the controller's own rate of calls to the load
	// balancer lets one such pass through in a second, and five at once.
	// docs/operations.md has the sizes.
	perSecond = 20
	atOnce    = 100

	// A write that fails is followed by a pause of firstPause, and each further
	// one by twice the pause before, up to lastPause. Each that succeeds halves
	// it, until it is no longer than the rate has it anyway.
	firstPause = time.Second
	lastPause  = 30 * time.Second
	noPause    = time.Second / perSecond
)

// pace is how fast a trail may write, so that history takes a bounded
// share of what the table can take, and less when that is too little.
type pace struct {
	limiter *rate.Limiter
	pause   time.Duration // zero while the table takes what comes
	next    time.Time     // no write before
}

func newPace() pace { return pace{limiter: rate.NewLimiter(perSecond, atOnce)} }

// wait returns true when so many bytes may be written. It returns false as soon
// as it is certain that this is not before ctx ends.
func (p *pace) wait(ctx context.Context, bytes int) bool {
	units := min((bytes+unit-1)/unit, atOnce)
	return sleepUntil(ctx, p.next) && p.limiter.WaitN(ctx, units) == nil
}

// failed lengthens the pause, and reports whether there was none.
func (p *pace) failed() (first bool) {
	first = p.pause == 0
	p.set(min(max(2*p.pause, firstPause), lastPause))
	return first
}

// succeeded shortens the pause, and reports whether that was the end of it.
func (p *pace) succeeded() (last bool) {
	before := p.pause
	if p.pause /= 2; p.pause < noPause {
		p.pause = 0
	}
	p.set(p.pause)
	return before > 0 && p.pause == 0
}

func (p *pace) set(pause time.Duration) {
	p.pause, p.next = pause, time.Now().Add(pause)
}

func sleepUntil(ctx context.Context, then time.Time) bool {
	if end, ends := ctx.Deadline(); ends && end.Before(then) {
		return false
	}
	timer := time.NewTimer(time.Until(then))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
