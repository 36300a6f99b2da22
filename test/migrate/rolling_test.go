package migrate_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

// rolling has the pods of the Service replaced all the time, each by one with
// an address that nobody had before, and watches the group at each change of
// it.
type rolling struct {
	w    *world
	stop func() // returns when the last change is made

	mu      sync.Mutex
	since   map[string]time.Time // when a target that is wanted became so
	there   map[string]bool      // wanted targets that were in the group once
	out     map[string]time.Time // of these, those that are outside now
	outside time.Duration        // of all, in sum
	lost    []string             // those that ever were outside
	longest time.Duration        // from an endpoint to its target
	never   []string             // that were replaced before they got into the group
	pods    int
	others  []string // targets of others, wanted as long as the test runs
}

const (
	replicas = 300
	atOnce   = 6 // pods that are replaced with each change
	pace     = time.Second
)

// rolls gives the Service its pods, and begins to replace them.
func (w *world) rolls(others ...string) *rolling {
	w.t.Helper()
	r := &rolling{w: w, since: map[string]time.Time{}, there: map[string]bool{}, out: map[string]time.Time{}, others: others}
	for _, target := range others {
		r.there[target] = true
		r.since[target] = time.Now()
	}
	w.t.Cleanup(w.sim.Observe(r.observe))
	var addresses []string
	for range replicas {
		addresses = append(addresses, r.next())
	}
	r.writes(w.t.Context(), addresses)
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan []string, 1)
	go func() { ended <- r.run(ctx, addresses) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		r.w.t.Logf("%d pods in all", r.pods)
		<-ended
	})
	w.t.Cleanup(r.stop)
	return r
}

func (r *rolling) run(ctx context.Context, addresses []string) []string {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for begun := false; ; {
		select {
		case <-ctx.Done():
			return addresses
		case <-tick.C:
		}
		if begun = begun || r.complete(); !begun {
			continue // nobody has registered the first pods yet
		}
		addresses = slices.Clone(addresses[atOnce:])
		for range atOnce {
			addresses = append(addresses, r.next())
		}
		r.writes(context.WithoutCancel(ctx), addresses)
	}
}

// complete reports whether all pods are in the group.
func (r *rolling) complete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.there) >= replicas+len(r.others)
}

func (r *rolling) next() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.pods
	r.pods++
	return fmt.Sprintf("10.%d.%d.%d", 1+n/50000, n/250%200, n%250+1)
}

// writes changes what is wanted: what goes is not wanted any more from before
// the change, what comes is from after it.
func (r *rolling) writes(ctx context.Context, addresses []string) {
	targets := append(at(addresses...), r.others...)
	r.mu.Lock()
	for target := range r.since {
		if !slices.Contains(targets, target) {
			r.leaves(target)
		}
	}
	r.mu.Unlock()
	if err := r.w.api.SetEndpoints(ctx, namespace, name, addresses...); err != nil {
		r.w.t.Errorf("replace pods: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, target := range targets {
		if r.since[target].IsZero() {
			r.since[target] = time.Now()
		}
	}
}

func (r *rolling) leaves(target string) {
	if !r.there[target] {
		r.never = append(r.never, target)
	}
	r.returns(target)
	delete(r.since, target)
	delete(r.there, target)
}

func (r *rolling) returns(target string) {
	if since, out := r.out[target]; out {
		r.outside += time.Since(since)
		delete(r.out, target)
	}
}

// observe is called after each change of the group.
func (r *rolling) observe(m elbsim.Mutation) {
	if m.Call.Group != r.w.group.ARN {
		return
	}
	in := map[string]bool{}
	for _, target := range elbsim.Registered(m.Targets) {
		in[target] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for target, since := range r.since {
		_, out := r.out[target]
		switch {
		case in[target] && !r.there[target]:
			r.there[target] = true
			r.longest = max(r.longest, time.Since(since))
		case in[target]:
			r.returns(target)
		case r.there[target] && !out:
			r.out[target] = time.Now()
			r.lost = append(r.lost, fmt.Sprintf("%s by %s at %s", target, m.Call.Caller, time.Now().Format(time.StampMilli)))
		}
	}
}

// expectNothingLost ends the replacing and looks at what was seen.
func (r *rolling) expectNothingLost(t *testing.T) {
	t.Helper()
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("%d pods, at most %s from an endpoint to its target; %d lost, %d ms outside the group, %d never in it",
		r.pods, r.longest.Round(time.Millisecond), len(r.lost), r.outside.Milliseconds(), len(r.never))
	r.w.Expect(r.lost).To(BeEmpty(), "targets that were outside the group while they were wanted")
	r.w.Expect(r.never).To(BeEmpty(), "pods that were replaced before they were registered")
	r.w.Expect(r.outside).To(BeZero())
	r.w.Expect(r.pods).To(BeNumerically(">", replicas+10*atOnce), "pods that came in the meantime")
}

// wanted is what has to be in the group, and nothing else.
func (r *rolling) wanted() []string {
	addresses, err := r.w.api.Addresses(r.w.t.Context(), namespace, name)
	r.w.Expect(err).NotTo(HaveOccurred())
	return append(at(addresses...), r.others...)
}
