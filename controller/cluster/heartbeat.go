package cluster

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/ownership"
)

// DefaultHeartbeatInterval is how often a cluster writes its heartbeat unless
// somebody chooses otherwise.
//
// Cost: an entry is below 1 KB, so that a heartbeat is one write request
// unit; 6 a minute are 259,200 in 30 days, 0.16 USD per cluster and month at
// 0.625 USD per million (on demand, us-east-1). Watching 25 clusters is one
// consistent query of about 8 KB every 30 s, 2 read request units, so 172,800
// a month, 0.02 USD at 0.125 USD per million. A longer interval saves cents,
// and delays the discovery of a duplicate ID and of an operator's change of
// state, which come with the heartbeat. Units:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
const DefaultHeartbeatInterval = 10 * time.Second

const (
	renewalTimeout = 10 * time.Second // all calls of one renewal
	firstRetry     = time.Second
	lastRetry      = 30 * time.Second
)

// HeartbeatConfig is what a heartbeat needs. All fields but Verify are
// required.
type HeartbeatConfig struct {
	Live     client.Reader // uncached
	Registry ownership.Registry
	Gate     *Gate
	// Verify, if set, checks the table before the ID is claimed in it.
	Verify func(context.Context) error

	ClusterID         string
	ControllerVersion string
	Interval          time.Duration // between two heartbeats

	NewID  func() string  // an ID that no other write of any process has
	Random func() float64 // from 0 to below 1, to spread retries
}

// Heartbeat claims the cluster ID and then writes heartbeats. It is a
// manager.Runnable of the leader.
//
// It opens the gate when the ID is claimed. It closes the gate when the entry
// turns out to be another cluster's, also later at run time, or is retired.
// Table errors before the claim keep the gate closed; after it they do not
// close it, since passes meet the table themselves. Whatever happens is
// retried, never returned: a restart would not help.
type Heartbeat struct {
	config   HeartbeatConfig
	claim    *claim // nil until the fingerprint is known
	standing standing
	failures int
}

// standing is the last definite answer of the registry.
type standing int

const (
	unanswered standing = iota
	admitted
	refused
)

// NewHeartbeat returns a heartbeat that has not begun.
func NewHeartbeat(config HeartbeatConfig) *Heartbeat {
	config.Gate.close(registryKeeper, &NotClaimedError{ID: config.ClusterID})
	return &Heartbeat{config: config}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (h *Heartbeat) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It returns nil when ctx ends.
func (h *Heartbeat) Start(ctx context.Context) error {
	for pause(ctx, h.beat(ctx)) {
	}
	return nil
}

// beat renews the claim once and returns how long to wait.
func (h *Heartbeat) beat(ctx context.Context) time.Duration {
	state, err := h.renew(ctx)
	if err == nil {
		h.standing, h.failures = admitted, 0
		h.config.Gate.admit(state == ownership.ClusterDrained)
		return h.config.Interval
	}
	h.failures++
	if ctx.Err() == nil {
		h.report(ctx, err)
	}
	return retryAfter(h.failures, h.config.Random())
}

func (h *Heartbeat) renew(ctx context.Context) (ownership.ClusterState, error) {
	ctx, cancel := context.WithTimeout(ctx, renewalTimeout)
	defer cancel()
	if h.claim == nil {
		if err := h.verify(ctx); err != nil {
			return "", err
		}
		fingerprint, err := fingerprint(ctx, h.config.Live)
		if err != nil {
			return "", err
		}
		h.claim = &claim{
			registry: h.config.Registry, id: h.config.ClusterID, fingerprint: fingerprint,
			version: h.config.ControllerVersion, newID: h.config.NewID,
		}
	}
	return h.claim.renew(ctx)
}

func (h *Heartbeat) verify(ctx context.Context) error {
	if h.config.Verify == nil {
		return nil
	}
	return h.config.Verify(ctx)
}

func (h *Heartbeat) report(ctx context.Context, err error) {
	logger := log.FromContext(ctx).WithName("heartbeat").WithValues("failures", h.failures)
	refusal, isRefusal := errors.AsType[closure](err)
	switch {
	case isRefusal:
		h.standing = refused
		h.config.Gate.close(registryKeeper, refusal)
		logger.Error(err, "the registry refuses this cluster, so nothing is reconciled")
	case h.standing == unanswered:
		unclaimed := &NotClaimedError{ID: h.config.ClusterID, Err: err}
		h.config.Gate.close(registryKeeper, unclaimed)
		logger.Error(unclaimed, "nothing is reconciled yet")
	default:
		logger.Error(err, "heartbeat failed, so other clusters see this one as silent")
	}
}

// retryAfter doubles from half to all of firstRetry up to half to all of
// lastRetry.
func retryAfter(failures int, random float64) time.Duration {
	const doublings = 5 // 32 s, above lastRetry
	full := min(firstRetry<<min(failures-1, doublings), lastRetry)
	return full/2 + time.Duration(random*float64(full/2))
}

// pause waits and reports whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
