package soak

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

const (
	x        = "10.0.0.5:8080"
	outsider = "10.9.0.1:8080" // nobody recorded it
)

// scene is a group of two clusters, in which a test does what controllers
// do. Each step takes a second.
type scene struct {
	*guard
	now      time.Time
	in       []string
	held     map[string]time.Time // by cluster, of x
	leaving  map[string]bool      // by cluster, of x
	pods     map[string]types.UID // by cluster, at x
	table    error
	frozen   bool
	age      time.Duration // of the last flag
	delay    time.Duration // of calls
	problems []string
}

func newScene() *scene {
	s := &scene{
		now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), in: []string{outsider},
		held: map[string]time.Time{}, leaving: map[string]bool{}, pods: map[string]types.UID{},
	}
	f := facts{
		records: s.records,
		ready: func(_ context.Context, cluster string) (pods, error) {
			if pod := s.pods[cluster]; pod != "" {
				return pods{x: pod}, nil
			}
			return pods{}, nil
		},
		excused: func(string, time.Time) bool { return s.frozen },
	}
	s.guard = newGuard(f, sets.New("east", "west"), sets.New(outsider), func(p *problem) { s.problems = append(s.problems, p.what) })
	return s
}

func (s *scene) records(context.Context) (ownership.Records, error) {
	var read ownership.Records
	for _, cluster := range []string{"east", "west"} {
		r := ownership.Record{Owner: ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}}.Clone()
		if since, holds := s.held[cluster]; holds {
			r.Held[x] = since
		}
		if s.leaving[cluster] {
			r.Releasing[x], r.UpdatedAt = s.now, s.now.Add(-s.age)
		}
		read.Records = append(read.Records, r)
	}
	return read, s.table
}

func (s *scene) tick() { s.now = s.now.Add(time.Second) }

// runs gives a cluster a pod at x, which it claims and registers.
func (s *scene) runs(cluster string, pod types.UID) {
	s.pods[cluster] = pod
	s.claims(cluster)
	s.calls(cluster, actionRegister, x)
}

func (s *scene) claims(cluster string) {
	s.tick()
	s.held[cluster] = s.now
	delete(s.leaving, cluster)
}

// ends takes the cluster's pod away, and has the cluster flag x.
func (s *scene) ends(cluster string) {
	s.tick()
	delete(s.pods, cluster)
	s.releases(cluster)
}

func (s *scene) releases(cluster string) {
	delete(s.held, cluster)
	s.leaving[cluster] = true
}

func (s *scene) calls(caller, action, t string) {
	s.tick()
	s.in = slices.DeleteFunc(s.in, func(in string) bool { return in == t })
	if action == actionRegister {
		s.in = append(s.in, t)
	}
	var targets []elbsim.TargetStatus
	for _, in := range s.in {
		parsed, _ := elbsim.ParseTarget(in)
		targets = append(targets, elbsim.TargetStatus{Target: parsed})
	}
	s.observe(elbsim.Mutation{
		Call: elbsim.Call{Time: s.now.Add(-s.delay), Caller: caller, Action: action, Targets: []string{t}}, At: s.now, Targets: targets,
	})
}

func TestTheGuardJudgesRemovals(t *testing.T) {
	for _, c := range []struct {
		name    string
		play    func(*scene)
		problem string // empty for none
	}{
		{"of a pod that is gone", func(s *scene) {
			s.runs("east", "a")
			s.ends("east")
			s.calls("east", actionDeregister, x)
		}, ""},
		{"of what another cluster holds and has registered", func(s *scene) {
			s.runs("east", "a")
			s.runs("west", "b")
			s.ends("east")
			s.calls("east", actionDeregister, x)
		}, "east took out 10.0.0.5:8080, which west holds since 12:00:03.000 and registered at 12:00:04.000"},
		{"of what another cluster has let go of", func(s *scene) {
			s.runs("east", "a")
			s.runs("west", "b")
			s.ends("west")
			delete(s.leaving, "west")
			s.ends("east")
			s.calls("east", actionDeregister, x)
		}, ""},
		{"of what another cluster has claimed anew and waits for", func(s *scene) {
			s.runs("east", "a")
			s.runs("west", "b")
			s.ends("west")
			s.ends("east")
			s.claims("west")
			s.calls("east", actionDeregister, x)
		}, ""},
		{"of what another cluster had registered before a person took it out", func(s *scene) {
			s.runs("west", "b")
			s.calls(somebody, actionDeregister, x)
			s.runs("east", "a")
			s.ends("east")
			s.calls("east", actionDeregister, x)
		}, ""},
		{"of a ready pod of its own", func(s *scene) {
			s.runs("east", "a")
			s.releases("east")
			s.calls("east", actionDeregister, x)
		}, "east took out 10.0.0.5:8080, which it wants itself"},
		{"of what its own record holds", func(s *scene) {
			s.runs("east", "a")
			delete(s.pods, "east")
			s.calls("east", actionDeregister, x)
		}, "east took out 10.0.0.5:8080, which it wants itself"},
		{"of an address that a new pod has meanwhile", func(s *scene) {
			s.runs("east", "a")
			s.ends("east")
			s.pods["east"] = "b"
			s.calls("east", actionDeregister, x)
		}, ""},
		{"of what nobody recorded", func(s *scene) {
			s.calls("east", actionDeregister, outsider)
		}, "DeregisterTargets of east names 10.9.0.1:8080, which nobody recorded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScene()
			c.play(s)
			if c.problem == "" {
				g.Expect(s.problems).To(BeEmpty())
			} else {
				g.Expect(s.problems).To(ConsistOf(c.problem))
			}
		})
	}
}

func TestTheGuardFindsWhatNoRecordNames(t *testing.T) {
	g := NewWithT(t)
	s := newScene()
	s.runs("east", "a")
	delete(s.held, "east")
	s.calls("west", actionRegister, "10.0.0.6:8080")
	g.Expect(s.problems).To(ConsistOf("in the group without a record: 10.0.0.5:8080, 10.0.0.6:8080"))
	g.Expect(s.seen().leaks).To(Equal(2))
}

func TestWhileTheTableIsLostHarmIsOnlyCounted(t *testing.T) {
	g := NewWithT(t)
	s := newScene()
	s.runs("east", "a")
	s.runs("west", "b")
	s.loseTable(true)
	s.held, s.table = map[string]time.Time{}, errors.New("no such table")
	delete(s.pods, "east")
	s.calls("east", actionDeregister, x)
	g.Expect(s.problems).To(BeEmpty())
	g.Expect(s.seen().whileTableLost).To(Equal(1))

	s.runs("west", "b")
	n, total, _ := s.outside(lostTable)
	g.Expect(n).To(Equal(1), "the pod of west")
	g.Expect(total).To(Equal(2 * time.Second))

	s.table = nil
	s.loseTable(false)
	s.calls("east", actionDeregister, x)
	g.Expect(s.problems).To(HaveLen(1))
}

func TestAFrozenCallIsExcusedOnce(t *testing.T) {
	g := NewWithT(t)
	s := newScene()
	s.frozen, s.age = true, ownership.Settle+time.Second
	for range 2 {
		s.runs("east", "a")
		s.runs("west", "b")
		s.ends("east")
		s.calls("east", actionDeregister, x)
	}
	g.Expect([]int{s.seen().excused, s.seen().foreign}).To(Equal([]int{1, 1}))
	g.Expect(s.problems).To(HaveLen(1))
}

// The address has a new pod when the calls for the old one land. Its claim
// waits for them.
func TestALateRegistrationIsNotForThePodOfToday(t *testing.T) {
	for delay, problems := range map[time.Duration]int{10 * time.Second: 0, 0: 1} {
		g := NewWithT(t)
		s := newScene()
		s.runs("east", "a")
		s.ends("east")
		s.pods["east"], s.delay = "b", delay
		s.calls("east", actionRegister, x)
		s.calls("east", actionDeregister, x)
		g.Expect(s.problems).To(HaveLen(problems), "calls that take %s", delay)
	}
}

// Whoever was frozen: others still wait for this call.
func TestACallInTimeIsNotExcused(t *testing.T) {
	g := NewWithT(t)
	s := newScene()
	s.frozen, s.age = true, ownership.Settle
	s.runs("east", "a")
	s.runs("west", "b")
	s.ends("east")
	s.calls("east", actionDeregister, x)
	g.Expect([]int{s.seen().excused, s.seen().foreign}).To(Equal([]int{0, 1}))
}

func TestAddressesMoveWhenAnotherClusterRegistersThem(t *testing.T) {
	g := NewWithT(t)
	s := newScene()
	s.runs("east", "a")
	s.runs("east", "a")
	s.runs("west", "b")
	s.runs("east", "a")
	g.Expect(s.seen().moves).To(Equal(2))
	g.Expect(s.seen().registrations).To(Equal(1))
}

func TestPodsOutsideTheGroup(t *testing.T) {
	g := NewWithT(t)
	s := newScene()
	s.runs("east", "a")
	s.calls(somebody, actionDeregister, x)
	s.runs("east", "a")
	n, total, longest := s.outside(handWork)
	g.Expect([]any{n, total, longest}).To(Equal([]any{1, 2 * time.Second, 2 * time.Second}))
	n, total, _ = s.outside(ours)
	g.Expect([]any{n, total}).To(Equal([]any{0, time.Duration(0)}))
}

func TestPodsThatWaitToEnter(t *testing.T) {
	g := NewWithT(t)
	var w waits
	begun := time.Now()
	outside := map[string]pods{"east": {x: "a"}, "west": {x: "b"}}
	w.see(outside, sets.New[string](), begun)
	w.see(outside, sets.New[string](), begun.Add(11*time.Second))
	w.see(map[string]pods{"east": {x: "a"}, "west": {x: "c"}}, sets.New[string](), begun.Add(12*time.Second))
	w.see(map[string]pods{"east": {x: "a"}, "west": {x: "c"}}, sets.New(x), begun.Add(15*time.Second))
	g.Expect(w.longest).To(Equal(15*time.Second), "the pod of east")
	g.Expect(w.long).To(Equal(2), "with the first pod of west, which has gone after 12 s")
}
