package binding

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
)

// scenario is something that a pass of east has to do, and what comes of it.
type scenario struct {
	change func(east, west *site) // after a first, finished pass with 10.0.0.1 and 10.0.0.2
	group  []string               // besides what west and somebody have
	gone   bool                   // the binding
}

var scenarios = map[string]scenario{
	"a new binding": {
		change: func(east, _ *site) { east.runs("new", "10.0.0.7"); east.binds("new") },
		group:  at8080("10.0.0.1", "10.0.0.2", "10.0.0.7"),
	},
	"replace a pod": {
		change: func(east, _ *site) { east.scales("web", "10.0.0.2", "10.0.0.3") },
		group:  at8080("10.0.0.2", "10.0.0.3"),
	},
	"give up a target that west has too": {
		change: func(east, west *site) { east.scales("web", "10.0.0.1"); west.scales("web", "10.2.0.1", "10.0.0.2") },
		group:  at8080("10.0.0.1", "10.0.0.2"),
	},
	"delete the binding": {
		change: func(east, _ *site) { east.deletes("web") },
		gone:   true,
	},
	"delete the binding and leave its targets": { // case 30
		change: func(east, _ *site) {
			east.edits("web", withPolicy(v1beta1.DeletionPolicyRetain))
			east.deletes("web")
		},
		group: at8080("10.0.0.1", "10.0.0.2"),
		gone:  true,
	},
	"finish a release and leave the other targets": { // case 30
		change: func(east, _ *site) {
			east.edits("web", withPolicy(v1beta1.DeletionPolicyRetain))
			east.scales("web", "10.0.0.2")
			east.fails(connectionReset, "DeregisterTargets")
			east.reconciles("web")
			east.deletes("web")
		},
		group: at8080("10.0.0.2"),
		gone:  true,
	},
}

// hits are what can befall one call.
var hits = map[string]struct {
	f    fault
	dies bool // the process, with the call
}{
	"the process dies before it": {connectionReset, true},
	"the process dies after it":  {replyLost, true},
	"it is lost":                 {connectionReset, false},
	"its reply is lost":          {replyLost, false},
}

// Each call in turn is hit. The next passes converge, nothing leaks, nothing
// foreign is removed.
func TestCase8AnyCallMayBeTheLast(t *testing.T) {
	for name, what := range scenarios {
		for how, hit := range hits {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				n := 0
				for was := true; was; n++ {
					t.Run(fmt.Sprint("call ", n), func(t *testing.T) { was = what.plays(t, n, hit.f, hit.dies) })
				}
				NewWithT(t).Expect(n).To(BeNumerically(">", 2), "calls of the scenario")
			})
		}
	}
}

// plays the scenario and hits the nth call, if there are as many.
func (what scenario) plays(t *testing.T, n int, f fault, dies bool) (hit bool) {
	w := newWorldInTurn(t)
	w.somebodyRegisters("10.9.0.9:8080")
	east, west := w.cluster("east"), w.cluster("west")
	removals := w.watchForForeignRemovals(east, west)
	west.runs("web", "10.2.0.1")
	west.binds("web")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	west.reconciles("web")
	east.reconciles("web")
	w.passes(time.Second) // the table tells times by milliseconds
	what.change(east, west)
	west.reconciles("web")

	process, die := context.WithCancel(t.Context())
	defer die()
	east.disturbs(func(call string) fault {
		switch {
		case isCached(call):
			return nil
		case process.Err() != nil:
			return connectionReset
		case n > 0 || hit:
			n--
			return nil
		}
		hit = true
		return func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if dies {
				defer die()
			}
			return f(r, send)
		}
	})
	for _, name := range []string{"web", "new"} {
		_, _ = east.try(process, east.key(name)) // an error is what the hit has made of it
	}
	east.calm()
	if dies {
		east.restarts()
	}
	for _, name := range []string{"web", "new"} {
		east.settles(name)
	}
	west.settles("web")
	w.expectGroup(append(what.group, "10.2.0.1:8080", "10.9.0.9:8080")...)
	removals.expectNone()
	if what.gone {
		east.expectGone("web")
		east.expectNoRecord("web")
	} else {
		east.expectReconciled("web")
	}
	return hit
}
