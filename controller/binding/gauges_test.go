package binding

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

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
