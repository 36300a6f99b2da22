package binding

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/ownership"
)

// freezes lets the process stand still for d before the call goes on.
func (w *world) freezes(d time.Duration) fault {
	return func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		w.passes(d)
		return send()
	}
}

// What a frozen process wants is from before: its successor may have written
// since, and the record is its.
func TestCase12APassThatFrozeAfterItReadWhatItWantsTakesNothingOver(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.reconciles("web")
	before := w.records()[east.owner("web")].Revision

	east.restarts()
	east.scales("web", "10.0.0.1")
	for _, call := range []string{"cached GET targetgroupbindings", "cached LIST endpointslices", "Query"} {
		east.fails(w.freezes(ownership.CallBudget+time.Second), call)
		east.reconciles("web")
		east.calm()
		w.Expect(w.records()[east.owner("web")].Revision).To(Equal(before), "frozen at %s", call)
		east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonPending)
		east.restarts()
	}
	east.settles("web")
	east.expectRecord("web", at8080("10.0.0.1"), nil)
	w.expectGroup("10.0.0.1:8080")
}

// isSucceededAfter binds n pods, lets one go, and returns the process that did
// so and its successor. The first removal of the old one has been confirmed by
// a live read; later ones are not.
func (s *site) isSucceededAfter(n int) (old, lead *process) {
	s.t.Helper()
	s.runs("web", pods(1, n)...)
	s.binds("web")
	s.reconciles("web")
	s.scales("web", pods(1, n-1)...)
	s.settles("web")
	return s.process, s.newProcess()
}

// A process that lost the lead and does not know it: its cache may have
// stopped where its lead did.
func TestCase12APassThatWasSucceededTrustsNoCache(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	stale, lead := east.isSucceededAfter(4)

	east.process = lead
	east.scales("web", pods(1, 4)...)
	east.settles("web")
	east.process = stale
	w.passes(2 * comparePeriod)
	east.fails(oneSlice("web", "web", pods(1, 3)...), "cached LIST endpointslices")
	east.settles("web")
	w.expectGroup(at8080(pods(1, 4)...)...)
	east.expectRemovals(1)
}

// The same, when its last write was in doubt: what it finds it takes for
// what may have come of that.
func TestCase12APassInDoubtThatWasSucceededTrustsNoCache(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	stale, lead := east.isSucceededAfter(5)

	cache := oneSlice("web", "web", pods(1, 3)...)
	east.disturbs(func(call string) fault {
		switch call {
		case "cached LIST endpointslices":
			return cache
		case "PutItem":
			return timeout
		}
		return nil
	})
	east.reconciles("web")
	east.process = lead
	east.scales("web", pods(1, 5)...)
	east.settles("web")
	east.process = stale
	east.fails(cache, "cached LIST endpointslices")
	east.settles("web")
	w.expectGroup(at8080(pods(1, 5)...)...)
}

// The same, when it was frozen in a registration that its successor has made
// as well.
func TestCase12ALateRegistrationOfAPassThatWasSucceeded(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	stale, lead := east.isSucceededAfter(5)

	east.scales("web", pods(1, 5)...)
	cache := oneSlice("web", "web", pods(1, 5)...)
	froze := false
	east.disturbs(func(call string) fault {
		switch {
		case call == "cached LIST endpointslices":
			return cache
		case call == "RegisterTargets" && !froze:
			froze = true
			return func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
				w.passes(10 * time.Minute)
				east.scales("web", pods(1, 6)...)
				east.process = lead
				east.settles("web")
				east.process = stale
				return send()
			}
		}
		return nil
	})
	east.reconciles("web")
	w.Expect(froze).To(BeTrue())
	east.settles("web")
	w.expectGroup(at8080(pods(1, 6)...)...)
}

// leavesATarget returns a cluster whose binding has gone without its finalizer
// and left a target in the group.
func (w *world) leavesATarget() *site {
	w.t.Helper()
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.loses("web")
	return east
}

// The row of a record goes while its orphaned targets are being taken out.
func TestCase13ASweepRemembersWhatTheTableLost(t *testing.T) {
	w := newWorld(t)
	east := w.leavesATarget()
	east.restarts()

	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	lost := false
	east.disturbs(func(call string) fault {
		switch {
		case call == "Query, eventually consistent" && lost && len(w.sim.Registered(w.group.ARN))+len(w.records()) == 0:
			stop()
		case call == "DeregisterTargets" && !lost:
			w.losesRow(east.owner("web"))
			lost = true
			return connectionReset
		}
		w.passes(time.Second)
		return nil
	})
	orphans := binding.Orphans{Reconciler: east.Reconciler, Period: time.Millisecond}
	w.Expect(orphans.Start(ctx)).To(Succeed())
	w.Expect(ctx.Err()).To(Equal(context.Canceled), "what is left: %v", w.records())
	w.expectGroup()
	east.expectNoRecord("web")
}

// A binding is made anew before the sweep may act on the record of the one
// before it. What the sweep knew then is not true for ever.
func TestCase13ASweepForgetsARecordThatIsWorkedOn(t *testing.T) {
	w := newWorld(t)
	east := w.leavesATarget()
	east.restarts()
	east.gate.unrenewed = 1
	orphans := &binding.Orphans{Reconciler: east.Reconciler, Period: time.Millisecond}
	sweep := func(n int, meanwhile func(sweep int)) {
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		sweeps := 0
		east.disturbs(func(call string) fault {
			if call == "Query, eventually consistent" {
				if sweeps++; sweeps > n {
					stop()
				} else {
					meanwhile(sweeps)
				}
			}
			return nil
		})
		w.Expect(orphans.Start(ctx)).To(Succeed())
		w.Expect(sweeps).To(Equal(n + 1))
	}
	sweep(7, func(sweep int) {
		switch sweep {
		case 2: // the first asked for a renewal of the claim
			east.binds("web")
			_, err := east.try(t.Context(), east.key("web"))
			w.Expect(err).NotTo(HaveOccurred())
		case 3:
			east.deletes("web")
			east.settles("web")
			east.expectGone("web")
			w.expectGroup()
			w.somebodyRegisters("10.0.0.1:8080")
		}
	})
	w.expectGroup("10.0.0.1:8080")
}

// A binding that vanished is nobody's but for the cluster ID: it waits for the
// proof that the ID is still this cluster's, and is asked about again.
func TestABindingThatVanishedWaitsForTheClaim(t *testing.T) {
	w := newWorld(t)
	east := w.leavesATarget()

	east.gate.unrenewed = 1
	next, err := east.try(t.Context(), east.key("web"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(next.RequeueAfter).To(Equal(time.Second))
	w.expectGroup("10.0.0.1:8080")
	w.Expect(w.records()).To(HaveLen(1))

	east.settles("web")
	w.expectGroup()
	east.expectNoRecord("web")
}

// The same while the process still knows the binding.
func TestABindingThatVanishedLeavesNothingThoughItsRowWasLost(t *testing.T) {
	w := newWorld(t)
	east := w.leavesATarget()
	w.losesRow(east.owner("web"))
	east.settles("web")
	w.expectGroup()
	east.expectNoRecord("web")
}

// A name that the API does not find now says nothing about the group that was
// bound under it.
func TestCase19AMissingNameForgetsNoRecordOfAGroupThatIsThere(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", toGroup("", "web"))
	east.reconciles("web")
	east.restarts()
	east.fails(unknownName, "DescribeTargetGroups")
	east.deletes("web")
	east.settles("web")
	east.expectGone("web")
	east.expectRecord("web", at8080("10.0.0.1"), nil)

	east.sweeps(nil, "")
	w.expectGroup()
	east.expectRecord("web", nil, at8080("10.0.0.1"))
}

// unknownName answers for names as if there were no such group.
func unknownName(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if strings.Contains(string(body), "Names.member") {
		return answer(http.StatusBadRequest, `<ErrorResponse><Error><Type>Sender</Type><Code>TargetGroupNotFound</Code><Message>not found</Message></Error></ErrorResponse>`)(r, send)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return send()
}
