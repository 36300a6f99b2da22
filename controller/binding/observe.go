package binding

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
)

// observe compares the record with the group when that is due: at the start
// and once a period. Between comparisons the ledger says what we put there,
// failed calls included, and observing costs nothing, unless it matters what
// others hold.
func (r *Reconciler) observe(ctx context.Context, b *round) error {
	st, due := b.state, !r.Clock.Now().Before(b.state.nextCompare)
	if !due && st.ledger.Loaded() && !b.dependsOnOthers() {
		return nil
	}
	// The look comes first: only then does a listed target that nobody was
	// releasing stay listed.
	if err := st.ledger.Reread(ctx); err != nil || !due {
		return err
	}
	return r.compare(ctx, b)
}

// compare lists the group. Should that fail, the ledger is enough to go on
// with: what it does not know to be registered is registered.
func (r *Reconciler) compare(ctx context.Context, b *round) error {
	st := b.state
	health, err := st.groups.Health(ctx, st.group.ARN)
	if errors.Is(err, ownership.ErrGroupMissing) {
		return fmt.Errorf("list the targets of target group %s: %w", st.group.Name, err)
	}
	if st.unlisted = err; err != nil {
		st.nextCompare = r.Clock.Now().Add(jitter(maxRetry))
		log.FromContext(ctx).Info("comparison put off", "error", err.Error())
		return nil
	}
	b.missing = st.ledger.Listed(present(health))
	metrics.Repaired(len(b.missing))
	b.compared, st.nextCompare = true, r.Clock.Now().Add(jitter(r.ComparePeriod))
	return nil
}

// present are the targets that a group sends or will send traffic to. A
// draining target is on its way out, and to want it is to register it again.
func present(health map[ownership.Target]elb.State) ownership.Set {
	set := make(ownership.Set, len(health))
	for t, state := range health {
		if state != elb.Draining {
			set[t] = true
		}
	}
	return set
}

// jitter spreads what would otherwise come in step.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)/10+1))
}
