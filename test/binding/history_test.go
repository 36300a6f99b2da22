package binding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/audit"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

const retention = 7 * 24 * time.Hour

// keepsHistory has the process write its history, once that is flushed.
func (s *site) keepsHistory() *audit.Trail {
	s.t.Helper()
	trail := audit.NewTrail(s.store, retention)
	s.Journal = trail
	return trail
}

// history is what the table tells of the group, the oldest first: one line for
// each event, and one without indent for each entry.
func (w *world) history(trails ...*audit.Trail) []string {
	w.t.Helper()
	for _, trail := range trails {
		trail.Flush(w.t.Context())
	}
	var entries []history.Entry
	for e, err := range w.store.History(w.t.Context(), history.Query{Group: ownership.GroupARN(w.group.ARN)}) {
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(e.Expires).To(BeTemporally("~", e.Time.Add(retention), time.Second))
		w.Expect(e.By).To(Equal("controller test"))
		entries = append(entries, e)
	}
	slices.Reverse(entries)
	lines := []string{}
	for _, e := range entries {
		_, name, _ := strings.Cut(e.Binding, "/")
		lines = append(lines, e.Cluster+" "+name)
		for _, event := range e.Events {
			line := fmt.Sprintf("  %s %v: %s", event.What, event.Targets, event.Reason)
			for _, other := range event.Others {
				cluster, _, _ := strings.Cut(other, "/")
				line += " (" + cluster + ")"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// reconcilesLater makes a pass a second later, so that entries have an order.
func (s *site) reconcilesLater(names ...string) {
	s.t.Helper()
	s.passes(time.Second)
	s.reconciles(names...)
}

// What the history says of a pod address that moves from east to west, from
// its first registration to the end of east's binding.
func TestHistoryOfAMovedPod(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	eastTrail, westTrail := east.keepsHistory(), west.keepsHistory()
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	west.runs("web", "10.0.0.1")
	west.binds("web")

	east.reconcilesLater("web")
	east.reconcilesLater("web") // nothing to do, and nothing to tell
	west.reconcilesLater("web")
	east.scales("web", "10.0.0.2")
	east.reconcilesLater("web")
	east.deletes("web")
	east.reconcilesLater("web")

	w.Expect(w.history(eastTrail, westTrail)).To(Equal([]string{
		"east web",
		"  claimed [10.0.0.1:8080 10.0.0.2:8080]: the endpoint is live",
		"  registered [10.0.0.1:8080 10.0.0.2:8080]: not confirmed to be registered",
		"west web",
		"  claimed [10.0.0.1:8080]: the endpoint is live",
		"  registered [10.0.0.1:8080]: not confirmed to be registered",
		"east web",
		"  releasing [10.0.0.1:8080]: the endpoint is gone",
		"  kept [10.0.0.1:8080]: another owner holds it (west)",
		"east web",
		"  releasing [10.0.0.2:8080]: the binding is deleted",
		"  deregistered [10.0.0.2:8080]: no other owner holds it",
		"  released [10.0.0.2:8080]: deregistered",
	}))
}

// A block lasts for many looks, and is told when it begins.
func TestHistoryTellsABlockOnce(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	trail := west.keepsHistory()
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.deletes("web")
	east.disturbs(func(call string) fault {
		if call == "DeregisterTargets" {
			return connectionReset // its fate is unknown, so the entry stays
		}
		return nil
	})
	east.reconciles("web")

	west.runs("web", "10.0.0.1")
	west.binds("web")
	for range 5 {
		west.reconcilesLater("web")
	}
	w.passes(2 * ownership.Settle) // east counts as dead
	west.reconciles("web")
	w.Expect(w.history(trail)).To(Equal([]string{
		"west web",
		"  claimed [10.0.0.1:8080]: the endpoint is live",
		"  blocked [10.0.0.1:8080]: another owner is releasing it (east)",
		"west web",
		"  registered [10.0.0.1:8080]: not confirmed to be registered",
	}))
}

// What others did to the group, and what went with a binding or a group.
func TestHistoryOfWhatWasNotOurDoing(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	trail := east.keepsHistory()
	east.runs("web", "10.0.0.1")
	east.binds("web", withPolicy(v1beta1.DeletionPolicyRetain))
	east.reconciles("web")
	w.somebodyDeregisters("10.0.0.1:8080")
	w.passes(2 * comparePeriod)
	east.reconciles("web")
	east.deletes("web")
	w.passes(2 * ownership.Settle)
	east.settles("web")
	east.expectGone("web")
	w.Expect(w.history(trail)[3:]).To(Equal([]string{
		"east web",
		"  missing [10.0.0.1:8080]: somebody who does not read the table took it out of the group",
		"  registered [10.0.0.1:8080]: not confirmed to be registered",
		"east web",
		"  gaveUp [10.0.0.1:8080]: the binding is gone, and its deletion policy keeps its targets in the group",
	}))
}

// An operator drains the cluster, and then the Service goes.
func TestHistoryTellsWhyNothingIsWanted(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	trail := east.keepsHistory()
	east.gate.drained = true
	east.reconcilesLater("web")
	east.gate.drained = false
	east.reconcilesLater("web")
	w.Expect(east.api.Client.Delete(t.Context(), east.service("web"))).To(Succeed())
	east.reconcilesLater("web")
	w.Expect(w.history(trail)).To(ContainElements(
		"  releasing [10.0.0.1:8080]: the cluster is drained",
		"  releasing [10.0.0.1:8080]: the Service is gone",
	))
}

// A binding that went without its finalizer: the sweep takes its targets out,
// in the name of the binding.
func TestHistoryOfAnOrphan(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.loses("web")
	east.restarts()
	trail := east.keepsHistory()
	east.sweeps(nil, "")
	w.Expect(w.history(trail)).To(Equal([]string{
		"east web",
		"  releasing [10.0.0.1:8080]: the binding is gone",
		"  deregistered [10.0.0.1:8080]: no other owner holds it",
	}))
}

// hanging takes entries and never answers.
type hanging struct{ history.Store }

func (hanging) Record(ctx context.Context, _ history.Entry) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", ownership.ErrUnavailable, ctx.Err())
}

// A table that takes no history changes nothing about the passes: neither one
// that hangs nor one that refuses.
func TestPassesDoNotWaitForHistory(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	trail := audit.NewTrail(hanging{w.store}, retention)
	go trail.Start(t.Context()) //nolint:errcheck // it returns nil
	east.Journal = trail
	east.runs("web", "10.0.0.1")
	east.binds("web")
	for _, addresses := range [][]string{{"10.0.0.1"}, {"10.0.0.2"}, {"10.0.0.3"}} {
		east.scales("web", addresses...)
		ended := make(chan error, 1)
		go func() {
			_, err := east.try(t.Context(), east.key("web"))
			ended <- err
		}()
		w.Eventually(ended, patience).Should(Receive(BeNil()), "the pass waits for the history")
		w.expectGroup(at8080(addresses...)...)
	}
	east.expectReconciled("web")
}

// Nobody who turned history off pays for it.
func TestWithoutHistoryNothingIsWritten(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.deletes("web")
	east.reconciles("web")
	w.Expect(w.history()).To(BeEmpty())
	w.expectGroup()
}

// A group that is gone takes its targets with it.
func TestHistoryOfAMissingGroup(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	trail := east.keepsHistory()
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	w.deletesGroup()
	w.passes(2 * comparePeriod)
	east.deletes("web")
	east.settles("web")
	w.Expect(w.history(trail)[3:]).To(Equal([]string{
		"east web",
		"  gaveUp [10.0.0.1:8080]: the target group does not exist",
	}))
}
