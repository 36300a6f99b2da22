package binding

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
)

// Each cluster writes its own record, so that no condition of a write can fail
// on account of another cluster.
func TestCase31TwentyFiveClustersOnOneGroup(t *testing.T) {
	const clusters = 25
	w := newWorld(t)
	w.somebodyRegisters("10.99.0.9:8080")
	var conflicts, writes atomic.Int64
	sites := make([]*site, clusters)
	want := []string{"10.99.0.9:8080"}
	for i := range sites {
		s := w.cluster(fmt.Sprintf("c%02d", i))
		s.runs("web", pods(i, 4)...)
		s.binds("web")
		s.fails(countingConflicts(&conflicts, &writes), "PutItem", "DeleteItem")
		sites[i] = s
		want = append(want, at8080(append(pods(i, 4)[2:], "10.98.0.1")...)...)
	}
	removals := w.watchForForeignRemovals(sites...)

	allAtOnce(t, sites, func(s *site) error { return s.passOver("web") })
	for i, s := range sites {
		s.scales("web", append(pods(i, 4)[2:], "10.98.0.1")...) // one is everybody's
	}
	w.passes(time.Second)
	allAtOnce(t, sites, func(s *site) error { return s.passOver("web") })

	w.expectGroup(unique(want)...)
	w.Expect(writes.Load()).To(BeNumerically(">=", 3*clusters), "two passes, the second with a release")
	w.Expect(conflicts.Load()).To(BeZero())
	removals.expectNone()
	for i, s := range sites {
		s.expectReconciled("web")
		s.expectRecord("web", at8080(append(pods(i, 4)[2:], "10.98.0.1")...), nil)
	}
	w.Expect(w.records()).To(HaveLen(clusters))

	// The count counts: a process writes that has been succeeded.
	old := sites[0].process
	sites[0].restarts()
	sites[0].reconciles("web")
	sites[0].process = old
	sites[0].scales("web")
	sites[0].reconciles("web")
	w.Expect(conflicts.Load()).To(BeEquivalentTo(1))
}

// passOver is a pass for a goroutine.
func (s *site) passOver(name string) error {
	_, err := s.try(s.t.Context(), s.key(name))
	return err
}

func allAtOnce(t *testing.T, sites []*site, do func(*site) error) {
	t.Helper()
	errs := make([]error, len(sites))
	var passes sync.WaitGroup
	for i, s := range sites {
		passes.Go(func() { errs[i] = do(s) })
	}
	passes.Wait()
	NewWithT(t).Expect(errs).To(HaveEach(BeNil()))
}

// countingConflicts counts the writes that reach the table, and those of them
// whose condition fails: nothing else is answered with 400 here.
func countingConflicts(conflicts, writes *atomic.Int64) fault {
	return func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		response, err := send()
		writes.Add(1)
		if err == nil && response.StatusCode == http.StatusBadRequest {
			conflicts.Add(1)
		}
		return response, err
	}
}

func unique(list []string) []string {
	seen := map[string]bool{}
	var once []string
	for _, item := range list {
		if !seen[item] {
			once = append(once, item)
		}
		seen[item] = true
	}
	return once
}

// Case 29: no heartbeat is no reason to take anything out.
func TestCase29NothingOfASilentClusterIsTakenOut(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	for i, s := range []*site{east, west} {
		s.runs("web", pods(i, 2)...)
		s.binds("web")
		s.reconciles("web")
	}
	for range 5 { // west does nothing for days, and east goes on
		w.passes(24 * time.Hour)
		east.scales("web", "10.0.0.1")
		east.settles("web")
		east.restarts()
		east.sweeps(nil, "")
		east.scales("web", pods(0, 2)...)
		east.settles("web")
	}
	w.expectGroup(at8080(append(pods(0, 2), pods(1, 2)...)...)...)
	west.expectRecord("web", at8080(pods(1, 2)...), nil)
}

// Case 29: what an evicted cluster was told to do is done once it is taken in.
func TestCase29AnEvictedClusterRegistersNothingUntilItIsActive(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.gate.closed = &cluster.RetiredError{ID: east.id}
	w.losesRow(east.owner("web"))
	w.somebodyDeregisters("10.0.0.1:8080") // as the operator does
	w.passes(2 * comparePeriod)
	for range 2 {
		east.reconciles("web")
		east.restarts()
	}
	w.expectGroup()
	east.expectNoRecord("web")
	east.expectReason("web", v1beta1.ReasonClusterRetired, "retired")
	east.gate.closed = nil
	east.reconciles("web")
	w.expectGroup("10.0.0.1:8080")
	east.expectReconciled("web")
}
