package binding

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// Each reason for which the truth table ever waits has a label, and each label
// a reason. Only too_large is no reason of the truth table.
func TestEachReasonToWaitHasALabel(t *testing.T) {
	g := NewWithT(t)
	reasons := map[plan.Reason]bool{}
	for bits := range 1 << 15 {
		for _, entry := range []ownership.Entry{ownership.Unrecorded, ownership.Held, ownership.Releasing} {
			for _, presence := range []ownership.Presence{ownership.Unknown, ownership.Registered, ownership.Gone} {
				want, exclusive, s := state15(bits)
				s.Entry, s.Presence = entry, presence
				if step := plan.Decide(want, exclusive, s); step.Action == plan.Wait {
					reasons[step.Reason] = true
				}
			}
		}
	}
	g.Expect(slices.Collect(maps.Keys(waitingFor))).To(ConsistOf(slices.Collect(maps.Keys(reasons))))
	g.Expect(append(slices.Collect(maps.Values(waitingFor)), "too_large")).To(ConsistOf(metrics.Waiting))
}

// What the load balancer refuses keeps its label while it is asked again.
func TestARefusedTargetIsRefusedInEachPass(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		err    error
		reason plan.Reason
		label  string
	}{
		{fmt.Errorf("TooManyTargets: %w", ownership.ErrGroupFull), plan.CallFailed, "refused"},
		{fmt.Errorf("InvalidTarget: %w", ownership.ErrInvalidTarget), plan.CallFailed, "refused"},
		{fmt.Errorf("InvalidTarget: %w", ownership.ErrInvalidTarget), plan.RefusedLately, "refused"},
		{ownership.ErrGroupThrottled, plan.CallFailed, "failed"},
	} {
		b := &round{}
		b.report.Plan.Steps = []plan.Step{{Target: "10.0.0.1:80", Action: plan.Wait, Reason: c.reason, Err: c.err}}
		g.Expect(b.waiting()).To(Equal(map[string]int{c.label: 1}), "%s, %s", c.err, c.reason)
	}
}

// An outage makes no alert for each binding: what is the trouble of all of
// them, or wanted so, is told apart.
func TestWhoseTroubleAReasonIs(t *testing.T) {
	denied := fmt.Errorf("read the records: %w", ownership.ErrForbidden)
	for _, c := range []struct {
		name   string
		err    error
		closed bool // by the gate
		reason v1beta1.ConditionReason
		scope  metrics.Scope
	}{
		{"the service is gone", &endpoints.ServiceNotFoundError{}, false, v1beta1.ReasonServiceNotFound, metrics.OfBinding},
		{"the group is full", ownership.ErrGroupFull, false, v1beta1.ReasonGroupFull, metrics.OfBinding},
		{"the role lacks one group", denied, false, v1beta1.ReasonAccessDenied, metrics.OfBinding},
		{"the role lacks the registry", &cluster.NotClaimedError{Err: denied}, true, v1beta1.ReasonAccessDenied, metrics.OfCluster},
		{"not claimed yet", &cluster.NotClaimedError{}, true, v1beta1.ReasonPending, metrics.OfCluster},
		{"the table is away", ownership.ErrUnavailable, false, v1beta1.ReasonTableUnavailable, metrics.OfCluster},
		{"the table is missing", ownership.ErrTableMissing, false, v1beta1.ReasonTableUnavailable, metrics.OfCluster},
		{"the table throttles", ownership.ErrThrottled, false, v1beta1.ReasonThrottled, metrics.OfCluster},
		{"the load balancer API is away", ownership.ErrGroupUnavailable, false, v1beta1.ReasonLoadBalancerUnavailable, metrics.OfCluster},
		{"the other controller runs", &cluster.LoadBalancerControllerError{}, true, v1beta1.ReasonLoadBalancerControllerActive, metrics.OfCluster},
		{"two clusters with one ID", &cluster.DuplicateIDError{}, true, v1beta1.ReasonClusterIDConflict, metrics.OfCluster},
		{"a state of a newer version", &cluster.UnknownStateError{}, true, v1beta1.ReasonClusterNotActive, metrics.OfCluster},
		{"retired", &cluster.RetiredError{}, true, v1beta1.ReasonClusterRetired, metrics.OfOperator},
		{"drained", errDrained, false, v1beta1.ReasonClusterDrained, metrics.OfOperator},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, b := NewWithT(t), &round{}
			if c.closed {
				b.closed = c.err
			}
			s := (&Reconciler{}).gauges(b, c.err, failure(c.err))
			g.Expect(s.Reason).To(Equal(string(c.reason)))
			g.Expect(s.Scope).To(Equal(c.scope))
		})
	}
}

// state15 is one of all states that 15 yes or no answers make.
func state15(bits int) (want, exclusive bool, s ownership.State) {
	bit := func(i int) bool { return bits>>i&1 == 1 }
	later := func(i int) time.Time {
		if bit(i) {
			return time.Unix(1, 0)
		}
		return time.Time{}
	}
	s = ownership.State{
		Listed: bit(2), Lost: bit(3), Looked: bit(4), Expired: bit(5), Late: bit(6),
		Others:  ownership.Others{Hold: bit(7), Release: bit(8), Unreadable: bit(9)},
		LeaveBy: later(10), ReturnBy: later(11), RetryAt: later(12),
	}
	if bit(13) {
		s.FailedNow = errors.New("failed")
	}
	if bit(14) {
		s.Refused = errors.New("refused")
	}
	return bit(0), bit(1), s
}

// A target is not blocked for longer by the time in which nobody could look.
func TestBlockedSinceLeavesOutWhatNobodySaw(t *testing.T) {
	g, start := NewWithT(t), time.Unix(1_800_000_000, 0)
	st, b := &state{}, &round{}
	b.report.Plan.Steps = []plan.Step{{Target: "10.0.0.1:80", Action: plan.Wait, Reason: plan.BlockedByOther}}
	g.Expect(st.blockedSince(b, start)).To(Equal(start))
	g.Expect(st.blockedSince(b, start.Add(metrics.Fresh))).To(Equal(start))
	outage := time.Hour
	after := start.Add(2*metrics.Fresh + outage)
	g.Expect(st.blockedSince(b, after)).To(Equal(start.Add(outage)))
	b.report.Plan.Steps = nil
	g.Expect(st.blockedSince(b, after)).To(BeZero())
}
