package binding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// foreign watches every deregistration of the group: for one of a target that
// another owner holds and has registered, or that no cluster put in.
type foreign struct {
	w  *world
	mu sync.Mutex
	// registered is when a cluster last registered a target.
	registered map[string]map[string]time.Time
	removals   []string
}

func (w *world) watchForForeignRemovals(clusters ...*site) *foreign {
	f := &foreign{w: w, registered: map[string]map[string]time.Time{}}
	for _, s := range clusters {
		f.registered[s.id] = map[string]time.Time{}
	}
	w.t.Cleanup(w.sim.Observe(f.observe))
	return f
}

func (f *foreign) observe(m elbsim.Mutation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, target := range m.Call.Targets {
		switch m.Call.Action {
		case "RegisterTargets":
			f.registered[m.Call.Caller][target] = m.At
		case "DeregisterTargets":
			f.deregistered(m.Call.Caller, target)
		}
	}
}

// deregistered compares with the table as it is at this moment. A claim is
// older than the registration that it allowed.
func (f *foreign) deregistered(by, target string) {
	ours := false
	for _, targets := range f.registered {
		ours = ours || !targets[target].IsZero()
	}
	if !ours {
		f.removals = append(f.removals, fmt.Sprintf("%s took out %s, which no cluster had put in", by, target))
	}
	for owner, record := range f.w.records() {
		cluster, _, _ := strings.Cut(owner, "/")
		since, held := record.Held[ownership.Target(target)]
		if cluster != by && held && f.registered[cluster][target].After(since) {
			f.removals = append(f.removals, fmt.Sprintf("%s took out %s of %s", by, target, owner))
		}
	}
}

func (f *foreign) expectNone() {
	f.w.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.w.Expect(f.removals).To(BeEmpty())
}

// Two clusters draw pod addresses from one subnet. Endpoints change at random,
// and between any two calls of a pass the other cluster may change and make a
// pass of its own.
func TestCase1InterleavedClustersNeverTakeOutWhatIsNotTheirs(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t)
			w.somebodyRegisters("10.9.0.9:8080")
			east, west := w.cluster("east"), w.cluster("west")
			removals := w.watchForForeignRemovals(east, west)
			play := &interleaving{random: rand.New(rand.NewPCG(seed, 1)), addresses: pods(0, 8), want: map[*site][]string{}}
			for _, s := range []*site{east, west} {
				s.runs("web")
				s.binds("web")
			}
			for range 20 {
				play.step(east, west)
				play.step(west, east)
				removals.expectNone()
			}
			play.quiesce(w, east, west)
			removals.expectNone()
			union := append(slices.Concat(play.want[east], play.want[west]), "10.9.0.9")
			slices.Sort(union)
			w.expectGroup(at8080(slices.Compact(union)...)...)
			for _, s := range []*site{east, west} {
				s.expectReady("web", metav1.ConditionTrue, v1beta1.ReasonReconciled)
				s.expectRecord("web", at8080(play.want[s]...), nil)
			}
		})
	}
}

type interleaving struct {
	random    *rand.Rand
	addresses []string
	want      map[*site][]string
}

// step changes a cluster and makes a pass, during which the other may have a
// turn as well.
func (i *interleaving) step(s, other *site) {
	i.change(s)
	turn := i.random.IntN(12)
	s.disturbs(func(call string) fault {
		s.passes(2 * time.Millisecond) // the table tells times by milliseconds
		if turn--; turn == 0 && !isCached(call) {
			i.change(other)
			other.disturbs(func(string) fault { s.passes(2 * time.Millisecond); return nil })
			other.reconciles("web")
		}
		return nil
	})
	s.reconciles("web")
	s.calm()
}

func (i *interleaving) change(s *site) {
	if i.random.IntN(3) == 0 {
		return
	}
	i.want[s] = nil
	for _, address := range i.addresses {
		if i.random.IntN(2) == 0 {
			i.want[s] = append(i.want[s], address)
		}
	}
	s.scales("web", i.want[s]...)
	if i.random.IntN(8) == 0 {
		s.restarts()
	}
}

// quiesce gives both enough passes and time to end what waits.
func (i *interleaving) quiesce(w *world, sites ...*site) {
	for range 3 {
		for _, s := range sites {
			s.reconciles("web")
		}
		w.passes(ownership.Settle + 1)
	}
}
