package pass_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

const x, y, z, w = "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "10.0.0.4:80"

type counts struct{ Records, Put, Register, Deregister int }

func (r *rig) countDuring(run func()) counts {
	r.group.Calls = nil
	clear(r.calls)
	run()
	return counts{r.calls[memory.Records], r.calls[memory.Put], r.group.Count(simulation.Register), r.group.Count(simulation.Deregister)}
}

// The cost of a pass, as docs/protocol promises it.
func TestCallsOfAPass(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x) // the first pass also reads whether there is a record

	for _, c := range []struct {
		name string
		want targets
		cost counts
	}{
		{"nothing to do", targets{x}, counts{}},
		{"two more", targets{x, y, z}, counts{Records: 1, Put: 1, Register: 1}},
		{"one less", targets{x, z}, counts{Records: 1, Put: 2, Deregister: 1}},
		{"one replaced", targets{y, z}, counts{Records: 1, Put: 2, Register: 1, Deregister: 1}},
		{"nothing to do again", targets{y, z}, counts{}},
		{"none left", nil, counts{Records: 1, Put: 2, Deregister: 1}},
		{"none left again", nil, counts{}},
	} {
		if diff := cmp.Diff(c.cost, r.countDuring(func() { a.wants(c.want...) })); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", c.name, diff)
		}
		r.expectMembers(c.want...)
	}

	// A new process reads, fences off the one before, and looks. What a
	// comparison confirms is not registered again.
	a.wants(x)
	fresh := r.controller(owner("a"))
	if diff := cmp.Diff(counts{Records: 2, Put: 1, Register: 1}, r.countDuring(func() { fresh.wants(x) })); diff != "" {
		t.Errorf("first pass of a new process: calls (-want +got):\n%s", diff)
	}
	fresh = r.controller(owner("a"))
	if diff := cmp.Diff(counts{Records: 1, Put: 1}, r.countDuring(func() { fresh.compares(x) })); diff != "" {
		t.Errorf("first pass of a new process that compares: calls (-want +got):\n%s", diff)
	}
}

// A binding that becomes exclusive or shared says so at once, since a drain of
// its cluster goes by it.
func TestAChangeOfTheModeIsOneWrite(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	a.tellsMode = true
	a.wants(x)
	for _, a.exclusive = range []bool{true, false} {
		if diff := cmp.Diff(counts{Put: 1}, r.countDuring(func() { a.wants(x) })); diff != "" {
			t.Errorf("exclusive %v: calls (-want +got):\n%s", a.exclusive, diff)
		}
		if got := a.ledger.Record().Exclusive; got != a.exclusive {
			t.Errorf("the record says exclusive %v, want %v", got, a.exclusive)
		}
		if diff := cmp.Diff(counts{}, r.countDuring(func() { a.wants(x) })); diff != "" {
			t.Errorf("again: calls (-want +got):\n%s", diff)
		}
	}
}

// slow is a group in which a registration takes longer than anything else.
type slow struct {
	pass.Group
	verbs *[]string
}

func (s slow) Register(ctx context.Context, a ownership.Admission) ownership.Result {
	synctest.Wait()
	*s.verbs = append(*s.verbs, "register")
	return s.Group.Register(ctx, a)
}

func (s slow) Deregister(ctx context.Context, r ownership.Removal) ownership.Result {
	*s.verbs = append(*s.verbs, "deregister")
	return s.Group.Deregister(ctx, r)
}

// A change of all targets never leaves the group empty: what enters enters
// first.
func TestRegistersBeforeItDeregisters(t *testing.T) {
	for _, c := range []struct {
		name          string
		sideBySide    bool
		before, after targets
	}{
		{"one by one", false, targets{x, y}, targets{y, z}},
		{"side by side, and none stays", true, targets{x}, targets{y}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				a := r.controller(owner("a"))
				a.wants(c.before...)
				var verbs []string
				a.sideBySide, a.group = c.sideBySide, slow{a.client, &verbs}
				a.wants(c.after...)
				if diff := cmp.Diff([]string{"register", "deregister"}, verbs); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Whoever wants it has what leaves leave first.
func TestReleasesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		a := r.controller(owner("a"))
		a.wants(x, y)
		var verbs []string
		a.releaseFirst, a.sideBySide, a.group = true, true, slow{a.client, &verbs}
		a.wants(y, z)
		if diff := cmp.Diff([]string{"deregister", "register"}, verbs); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{
			"claimed [10.0.0.3:80]: the endpoint is live",
			"deregistered [10.0.0.1:80]: no other owner holds it",
			"registered [10.0.0.3:80]: not confirmed to be registered",
			"released [10.0.0.1:80]: deregistered",
			"releasing [10.0.0.1:80]: the endpoint is gone",
		}, slices.Sorted(slices.Values(a.told()))); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		r.expectMembers(y, z)
	})
}

// What the look shows that follows the flag may make a release that is not
// wanted any more: the target is held again, and was never out.
func TestALookTakesAReleaseBack(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x, y)
	want := set(y)
	again := func(look *ownership.Look) {
		if others, _ := look.HeldByOthers(); len(others) == 0 {
			want[x] = true
		}
	}
	cost := r.countDuring(func() {
		a.ledger.Begin(r.clock.Now())
		p := pass.Pass{Ledger: a.ledger, Group: a.client, Now: r.clock.Now, Binding: plan.Binding{Want: want}, Looked: again}
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff(counts{Records: 2, Put: 2, Register: 1}, cost); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	r.expectMembers(x, y)
	r.expectRecord(owner("a"), targets{x, y}, nil)
}

// meeting is a group of which each call waits until the other has been made.
type meeting struct {
	pass.Group
	calls *sync.WaitGroup
	mu    *sync.Mutex
}

func (m meeting) meet() {
	m.calls.Done()
	m.calls.Wait()
	m.mu.Lock()
}

func (m meeting) Register(ctx context.Context, a ownership.Admission) ownership.Result {
	m.meet()
	defer m.mu.Unlock()
	return m.Group.Register(ctx, a)
}

func (m meeting) Deregister(ctx context.Context, r ownership.Removal) ownership.Result {
	m.meet()
	defer m.mu.Unlock()
	return m.Group.Deregister(ctx, r)
}

// While others of ours stay in the group no call waits for another.
func TestRegistersAndDeregistersSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		a := r.controller(owner("a"))
		a.wants(x, y)
		m := meeting{a.client, &sync.WaitGroup{}, &sync.Mutex{}}
		m.calls.Add(2)
		a.sideBySide, a.group = true, m
		a.wants(y, z)
		r.expectMembers(y, z)
		r.expectRecord(owner("a"), targets{y, z}, nil)
		if got := a.report; !slices.Equal(got.Registered, targets{z}) || !slices.Equal(got.Deregistered, targets{x}) {
			t.Errorf("reports %v registered and %v deregistered", got.Registered, got.Deregistered)
		}
	})
}
