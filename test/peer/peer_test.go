package peer_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/simulation"
	"target-ownership-controller/test/peer"
)

const x, y, byHand = "10.0.0.1:80", "10.0.0.2:80", "10.9.0.1:80"

// cluster is a binding of a cluster, its list, and the group that it shares.
type cluster struct {
	simulation.Client
	list  ownership.Set // nil: there is none
	fails error         // of the next save
	steps []string
}

func (c *cluster) List() (ownership.Set, error) { return c.Group.Listing(), nil }

func (c *cluster) Load(context.Context) (ownership.Set, bool, error) {
	return maps.Clone(c.list), c.list != nil, nil
}

func (c *cluster) Save(_ context.Context, targets ownership.Set) error {
	if c.fails != nil {
		return c.fails
	}
	c.steps = append(c.steps, "save")
	c.list = maps.Clone(targets)
	return nil
}

func (c *cluster) Delete(context.Context) error { c.list = nil; return nil }

func newCluster(name string, g *simulation.Group) *cluster {
	c := &cluster{Client: simulation.Client{Group: g, Owner: ownership.Owner{Cluster: name, Namespace: "shop", Name: "web"}}}
	c.Before = func(call *simulation.Call) simulation.Fate {
		c.steps = append(c.steps, string(call.Verb))
		return simulation.Applied
	}
	return c
}

func (c *cluster) start(m peer.Method) simulation.Reconciler {
	return m.Start(simulation.Env{Owner: c.Owner, Now: c.Group.Clock.Now, List: c, Group: c})
}

func want(targets ...ownership.Target) simulation.Binding {
	b := simulation.Binding{Want: ownership.Set{}}
	for _, t := range targets {
		b.Want[t] = true
	}
	return b
}

func reconcile(t *testing.T, r simulation.Reconciler, b simulation.Binding) {
	t.Helper()
	if _, err := r.Reconcile(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestWhatItsListDoesNotNameStays(t *testing.T) {
	g := NewWithT(t)
	group := simulation.NewGroup(simulation.NewClock(), byHand)
	a := newCluster("a", group)
	r := a.start(peer.Method{})
	reconcile(t, r, want(x, y))
	reconcile(t, r, want(y))
	g.Expect(slices.Sorted(maps.Keys(group.Members))).To(Equal([]ownership.Target{y, byHand}))
	g.Expect(a.steps).To(Equal([]string{"save", "register", "deregister", "save"}))

	reconcile(t, r, simulation.Binding{Deleted: true})
	g.Expect(group.Members).To(Equal(ownership.Set{byHand: true}))
	g.Expect(a.list).To(BeNil())
}

// A process without a list has nothing to go by.
func TestWithoutAListNothingIsTakenOut(t *testing.T) {
	group := simulation.NewGroup(simulation.NewClock(), x)
	a := newCluster("a", group)
	reconcile(t, a.start(peer.Method{}), want(y))
	NewWithT(t).Expect(group.Members).To(Equal(ownership.Set{x: true, y: true}))
}

func TestNothingIsRegisteredThatIsNotListed(t *testing.T) {
	g := NewWithT(t)
	group := simulation.NewGroup(simulation.NewClock())
	a := newCluster("a", group)
	a.fails = errors.New("refused")
	_, err := a.start(peer.Method{}).Reconcile(t.Context(), want(x))
	g.Expect(err).To(MatchError(a.fails))
	g.Expect(group.Members).To(BeEmpty())
}

// The reason for which it loses: no cluster sees the list of another.
func TestAMovedAddressIsTakenFromItsNewOwner(t *testing.T) {
	g := NewWithT(t)
	group := simulation.NewGroup(simulation.NewClock())
	a, b := newCluster("a", group), newCluster("b", group)
	old, next := a.start(peer.Method{}), b.start(peer.Method{SkipUnchanged: true})
	reconcile(t, old, want(x))
	reconcile(t, next, want(x)) // before a has cleaned up
	reconcile(t, old, want())
	g.Expect(group.Members).To(BeEmpty())

	reconcile(t, next, want(x))
	g.Expect(group.Members).To(BeEmpty(), "b has nothing new to do")
	reconcile(t, b.start(peer.Method{}), want(x))
	g.Expect(group.Members).To(Equal(ownership.Set{x: true}), "a comparison finds it")
}

// The simulation shows the same at random.
func TestItLosesInTheSimulation(t *testing.T) {
	count := map[simulation.Invariant]int{}
	for seed := range uint64(150) {
		for _, v := range simulation.Run(simulation.Config{Seed: seed, Method: peer.Method{SkipUnchanged: true}, Shared: true, Count: true}).Violations {
			count[v.Invariant]++
		}
	}
	for _, i := range []simulation.Invariant{simulation.S1, simulation.L1Left, simulation.L1Missing} {
		if count[i] == 0 {
			t.Errorf("%s was never broken in 150 runs", i)
		}
	}
	if count[simulation.S3] > 0 {
		t.Errorf("S3 was broken %d times: the list is there to prevent that", count[simulation.S3])
	}
}
