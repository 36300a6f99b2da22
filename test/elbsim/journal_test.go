package elbsim_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

func TestJournalTellsWhoDidWhatAndHowItEnded(t *testing.T) {
	b := newBench(t)
	other := *b
	other.elb = b.Client("cluster-b")

	b.Expect(b.register(target)).To(Succeed())
	b.clock.advance(time.Second)
	b.Expect(code(other.register("i-01:80"))).To(Equal("ValidationError"))
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{DropReply: true}})
	b.Expect(code(other.deregister(target))).To(Equal(noAnswer))
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{Late: true}})
	b.Expect(code(b.register("10.0.0.2:80"))).To(Equal(noAnswer))
	b.clock.advance(time.Second)
	b.Land()

	t0 := b.clock.Now().Add(-2 * time.Second)
	t1, t2 := t0.Add(time.Second), t0.Add(2*time.Second)
	entry := func(id int, at time.Time, caller, action, target, outcome string) elbsim.Entry {
		return elbsim.Entry{Call: elbsim.Call{ID: id, Time: at, Caller: caller, Action: action, Group: b.arn, Targets: []string{target}}, At: at, Outcome: outcome}
	}
	dropped := entry(3, t1, "cluster-b", "DeregisterTargets", target, "ok")
	dropped.ReplyLost = true
	late := entry(4, t1, "cluster-a", "RegisterTargets", "10.0.0.2:80", "late")
	late.ReplyLost = true
	landed := entry(4, t1, "cluster-a", "RegisterTargets", "10.0.0.2:80", "ok")
	landed.At, landed.Landed = t2, true
	b.Expect(b.Journal()).To(Equal([]elbsim.Entry{
		entry(1, t0, "cluster-a", "RegisterTargets", target, "ok"),
		entry(2, t1, "cluster-b", "RegisterTargets", "i-01:80", "ValidationError"),
		dropped, late, landed,
	}))

	b.Expect(b.Count("", "")).To(Equal(4))
	b.Expect(b.Count("cluster-a", "RegisterTargets")).To(Equal(2), "a landing is not another call")
	b.Expect(b.Count("cluster-b", "")).To(Equal(2))
	b.Expect(b.Count("", "DeregisterTargets")).To(Equal(1))
	b.ClearJournal()
	b.Expect(b.Count("", "")).To(BeZero())
}

func TestUnsignedCallIsAnonymous(t *testing.T) {
	b := newBench(t)
	resp, err := http.PostForm(b.URL(), url.Values{"Action": {"DescribeTargetGroups"}})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(resp.Body.Close()).To(Succeed())
	b.Expect(b.Count("anonymous", "DescribeTargetGroups")).To(Equal(1))
}

func TestObserverSeesEachMutation(t *testing.T) {
	b := newBench(t)
	var steps []string
	cancel := b.Observe(func(m elbsim.Mutation) {
		steps = append(steps, fmt.Sprint(m.Call.Action, " ", elbsim.Registered(m.Targets), " ", m.Landed))
	})
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.register("i-01:80")).NotTo(Succeed(), "a refused call is no mutation")
	b.health()
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{Late: true}})
	b.Expect(b.deregister(target)).NotTo(Succeed())
	b.Land()
	cancel()
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(steps).To(Equal([]string{
		"RegisterTargets [10.0.0.1:80] false",
		"DeregisterTargets [] true",
	}))
}

// Callers at once: each mutation is seen once, and each snapshot is the one
// before it plus or minus the targets of the call.
func TestConcurrentCallersAreSerialised(t *testing.T) {
	b := newBench(t)
	b.setDelay("0")
	b.ClearJournal()
	want := map[string]bool{}
	mutations := 0
	b.Observe(func(m elbsim.Mutation) {
		mutations++
		for _, key := range m.Call.Targets {
			want[key] = true
			if m.Call.Action == "DeregisterTargets" {
				delete(want, key)
			}
		}
		if got := elbsim.Registered(m.Targets); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("after call %d: group has %v, want %v", m.Call.ID, got, want)
		}
	})
	var callers sync.WaitGroup
	for c := range 4 {
		callers.Go(func() {
			mine := *b
			mine.elb = b.Client(fmt.Sprintf("cluster-%d", c))
			for i := range 25 {
				key := fmt.Sprintf("10.0.%d.%d:80", c, i)
				if err := mine.register(key, "10.9.9.9:80"); err != nil {
					t.Error(err)
				}
				if err := mine.deregister(key); err != nil {
					t.Error(err)
				}
				b.Targets(b.arn)
			}
		})
	}
	callers.Wait()
	b.Expect(mutations).To(Equal(200))
	b.Expect(b.Count("", "")).To(Equal(200))
	b.Expect(b.Registered(b.arn)).To(Equal([]string{"10.9.9.9:80"}))
}
