package pass_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/simulation"
)

const x, y, z = "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"

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

// A rolling change never dips: what enters enters first.
func TestRegistersBeforeItDeregisters(t *testing.T) {
	r := newRig(t)
	a := r.controller(owner("a"))
	a.wants(x)
	r.group.Calls = nil
	a.wants(y)
	var verbs []string
	for _, c := range r.group.Calls {
		verbs = append(verbs, string(c.Verb))
	}
	if diff := cmp.Diff([]string{"register", "deregister"}, verbs); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
