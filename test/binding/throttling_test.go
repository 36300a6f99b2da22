package binding

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/test/elbsim"
)

// agenda is the work queue of a controller in the time of the test: passes
// are due when an event, a wake-up or their own result says so.
type agenda struct {
	*site
	due heapOfPasses
}

type duePass struct {
	at  time.Time
	key client.ObjectKey
}

type heapOfPasses []duePass

func (h heapOfPasses) Len() int           { return len(h) }
func (h heapOfPasses) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h heapOfPasses) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heapOfPasses) Push(p any)        { *h = append(*h, p.(duePass)) }
func (h *heapOfPasses) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}

// add has the binding worked on at that time, unless it is due before.
func (a *agenda) add(key client.ObjectKey, at time.Time) {
	for i := range a.due {
		if a.due[i].key == key {
			if at.Before(a.due[i].at) {
				a.due[i].at = at
				heap.Fix(&a.due, i)
			}
			return
		}
	}
	heap.Push(&a.due, duePass{at, key})
}

// until works off what is due before the time.
func (a *agenda) until(end time.Time) {
	a.t.Helper()
	for len(a.due) > 0 && a.due[0].at.Before(end) {
		next := heap.Pop(&a.due).(duePass)
		if next.at.After(a.clock.Now()) {
			a.clock.SetTime(next.at)
		}
		result, err := a.try(a.t.Context(), next.key)
		a.Expect(err).NotTo(HaveOccurred())
		a.add(next.key, a.clock.Now().Add(result.RequeueAfter))
		for len(a.Wakes()) > 0 {
			a.add((<-a.Wakes()).Object, a.clock.Now())
		}
	}
	a.clock.SetTime(end)
}

// Two hundred bindings change while everything throttles, for a minute. Five
// seconds after it they are done, and nothing was listed anew.
func TestCase17AMinuteOfThrottling(t *testing.T) {
	const bindings = 200
	w := newWorld(t)
	groups := []string{w.group.ARN}
	for i := range 9 {
		groups = append(groups, w.creates(elbsim.Group{Name: fmt.Sprint("web-", i)}).ARN)
	}
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	for i := range bindings {
		east.binds(fmt.Sprint("web-", i), toGroup(groups[i%len(groups)], ""), toService("web"))
		east.reconciles(fmt.Sprint("web-", i))
	}
	expectGroups := func(targets ...string) {
		t.Helper()
		for _, group := range groups {
			w.Expect(w.sim.Registered(group)).To(ConsistOf(anys(at8080(targets...))...))
		}
	}

	east.disturbs(func(call string) fault {
		if call == "Query" || call == "PutItem" {
			return dynamoDBSays("ThrottlingException")
		}
		return nil
	})
	w.elbSays(elbsim.Throttled(), "")
	east.scales("web", "10.0.0.2", "10.0.0.3")
	east.forget()
	a := &agenda{site: east}
	for i := range bindings {
		a.add(east.key(fmt.Sprint("web-", i)), w.clock.Now())
	}
	a.until(w.clock.Now().Add(time.Minute))
	expectGroups("10.0.0.1", "10.0.0.2")

	east.calm()
	w.sim.ClearRules()
	a.until(w.clock.Now().Add(5 * time.Second))
	expectGroups("10.0.0.2", "10.0.0.3")
	w.Expect(len(w.records())).To(Equal(bindings / len(groups)))
	for _, r := range w.records() {
		w.Expect(r.Held).To(HaveLen(2))
		w.Expect(r.Releasing).To(BeEmpty())
	}
	w.Expect(east.count()).NotTo(HaveKey("DescribeTargetHealth"))
}
