package cluster

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Preflight says whether this replica can do the job, for the readiness probe.
// Every replica finds out when it starts, the standby too, by reading: is the
// table there, is it what the protocol needs, may we read it, and is the
// cluster ID ours or free. So a rollout of a broken configuration stops at its
// first pod, whoever leads.
//
// A replica that was ready stays so while the table cannot be reached: nothing
// is wrong with it. The leader is not ready while the registry refuses the
// cluster, or as long as it could not claim the ID since it leads. Why so:
// docs/decisions/0004-readiness.md.
//
// It is a manager.Runnable of every replica, and safe for concurrent use.
type Preflight struct {
	config HeartbeatConfig
	outage outage

	mu     sync.Mutex
	result error // nil once it has passed
}

var errNotChecked = errors.New("the ownership table has not been checked yet")

// NewPreflight returns a preflight that has not begun, for the heartbeat of
// that configuration.
func NewPreflight(config HeartbeatConfig) *Preflight {
	return &Preflight{config: config, outage: outage{name: "preflight"}, result: errNotChecked}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (p *Preflight) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. It checks until all is well, and returns
// nil, also when ctx ends.
func (p *Preflight) Start(ctx context.Context) error {
	for failures := 1; ; failures++ {
		err := p.try(ctx)
		if ctx.Err() != nil {
			return nil
		}
		p.outage.note(ctx, "this replica is not ready", err)
		p.mu.Lock()
		p.result = err
		p.mu.Unlock()
		if err == nil || !pause(ctx, backOff(failures, lastRetry, p.config.Random())) {
			return nil
		}
	}
}

func (p *Preflight) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, renewalTimeout)
	defer cancel()
	c, err := p.config.claim(ctx)
	if err == nil {
		err = c.vet(ctx)
	}
	if _, retired := errors.AsType[*RetiredError](err); retired {
		return nil // as somebody wants it
	}
	if _, refused := errors.AsType[closure](err); err == nil || refused {
		return err
	}
	return &NotClaimedError{ID: p.config.ClusterID, Err: err}
}

// Check implements healthz.Checker. It makes no call.
func (p *Preflight) Check(*http.Request) error {
	if err := p.config.Gate.misconfigured(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.result
}

// backOff doubles from half to all of firstRetry up to half to all of last.
// random is from 0 to below 1.
func backOff(failures int, last time.Duration, random float64) time.Duration {
	const doublings = 5 // 32 s, above lastRetry
	full := min(firstRetry<<min(failures-1, doublings), last)
	return full/2 + time.Duration(random*float64(full/2))
}
