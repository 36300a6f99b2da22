package cluster

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
	// lastRenewalRetry is for a claim that we had: should it lapse, passes wait
	// for its renewal, and go on within seconds of the end of an outage.
	lastRenewalRetry = 2 * time.Second

	// verifyPeriod is for how long the table is taken to have no replicas.
	verifyPeriod = 5 * time.Minute
	// missedHeartbeats may go by before a claim lapses.
	missedHeartbeats = 3
)

// HeartbeatConfig is what a heartbeat needs. All fields but Verify are
// required.
type HeartbeatConfig struct {
	Live     client.Reader // uncached
	Registry Registry
	Gate     *Gate
	// Verify, if set, checks the table before the ID is claimed in it, and for
	// replicas once in 5 minutes from then on.
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
// Table errors before the claim keep the gate closed; after it they leave it
// open until the claim lapses. Whatever happens is retried, never returned: a
// restart would not help. Why so: docs/decisions/0003-cluster-identity.md.
type Heartbeat struct {
	config   HeartbeatConfig
	claim    *claim // nil until the fingerprint is known
	standing standing
	verified time.Time // when the table was
	failures int       // without an answer, in a row
	outage   outage
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
	return &Heartbeat{config: config, outage: outage{name: "heartbeat"}}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (h *Heartbeat) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It returns nil when ctx ends.
func (h *Heartbeat) Start(ctx context.Context) error {
	for {
		timer := time.NewTimer(h.beat(ctx))
		select {
		case <-timer.C:
		case <-h.config.Gate.wanted:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// beat renews the claim once and returns how long to wait.
func (h *Heartbeat) beat(ctx context.Context) time.Duration {
	a := admission{
		id: h.config.ClusterID, number: h.config.Gate.renewing(), began: h.config.Gate.now(),
		validity: missedHeartbeats*h.config.Interval + renewalTimeout,
	}
	state, err := h.renew(ctx)
	if ctx.Err() != nil {
		return 0 // a shutdown is no answer
	}
	refusal, isRefusal := errors.AsType[closure](err)
	switch {
	case err == nil:
		h.config.Gate.admit(a, state == ownership.ClusterDrained)
		h.standing = admitted
	case isRefusal:
		h.config.Gate.refuse(a, refusal)
		h.standing = refused
	default:
		h.failures++
		h.unanswered(err)
	}
	h.outage.note(ctx, meaning[h.standing], err)
	if err != nil && !isRefusal {
		return h.retryAfter()
	}
	h.failures = 0
	return h.config.Interval
}

func (h *Heartbeat) renew(ctx context.Context) (ownership.ClusterState, error) {
	ctx, cancel := context.WithTimeout(ctx, renewalTimeout)
	defer cancel()
	if h.claim == nil {
		claim, err := h.config.claim(ctx)
		if err != nil {
			return "", err
		}
		h.claim, h.verified = claim, h.config.Gate.now()
	}
	if err := h.replicated(ctx); err != nil {
		return "", err
	}
	return h.claim.renew(ctx)
}

// replicated looks at the table again. Of all that can be wrong with it then,
// replicas alone do harm without an error.
func (h *Heartbeat) replicated(ctx context.Context) error {
	now := h.config.Gate.now()
	if h.config.Verify == nil || now.Sub(h.verified) < verifyPeriod {
		return nil
	}
	if err := h.config.Verify(ctx); errors.Is(err, ownership.ErrReplicated) {
		return err
	}
	h.verified = now
	return nil
}

// claim checks the table and returns a claim on the cluster ID, not made yet.
func (c HeartbeatConfig) claim(ctx context.Context) (*claim, error) {
	if c.Verify != nil {
		if err := c.Verify(ctx); err != nil {
			return nil, err
		}
	}
	fingerprint, err := fingerprint(ctx, c.Live)
	if err != nil {
		return nil, err
	}
	return &claim{
		registry: c.Registry, id: c.ClusterID, fingerprint: fingerprint,
		version: c.ControllerVersion, newID: c.NewID,
	}, nil
}

// unanswered leaves the last answer as it is.
func (h *Heartbeat) unanswered(err error) {
	if h.standing == unanswered {
		h.config.Gate.close(registryKeeper, &NotClaimedError{ID: h.config.ClusterID, Err: err})
		return
	}
	h.config.Gate.trouble(err)
}

var meaning = map[standing]string{
	unanswered: "the cluster ID is not claimed, so nothing is reconciled",
	admitted:   "heartbeat failed: other clusters see this one as silent, and if it goes on, nothing is reconciled",
	refused:    "the registry refuses this cluster, so nothing is reconciled",
}

func (h *Heartbeat) retryAfter() time.Duration {
	last := lastRetry
	if h.standing == admitted {
		last = lastRenewalRetry
	}
	return backOff(h.failures, last, h.config.Random())
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
