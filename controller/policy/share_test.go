package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"target-ownership-controller/ownership"
)

// group is a target group whose bindings all have a share, without its calls:
// a binding that looks and then acts does so at once.
type group []*member

type member struct {
	Policy
	want, held ownership.Set
}

// fill is how many targets the member would have alone.
func (m *member) fill() int {
	if m.Maximum > 0 {
		return min(len(m.want), m.Maximum)
	}
	return len(m.want)
}

// holds is what members other than one hold.
func (g group) holds(but *member) ownership.Set {
	held := ownership.Set{}
	for _, m := range g {
		if m != but {
			maps.Copy(held, m.held)
		}
	}
	return held
}

// moves makes a pass of a member, by what it has seen of the others.
func (m *member) moves(others Others) {
	limit := m.Limit(m.want, len(m.held), others)
	m.held = Choose(m.want, limit.Targets, func(t ownership.Target) int {
		if m.held[t] {
			return 0
		}
		return 1
	})
}

func (g group) sizes() string {
	text := ""
	for _, m := range g {
		text += fmt.Sprintf("%d of %d (%d%%, maximum %d); ", len(m.held), len(m.want), m.Share, m.Maximum)
	}
	return text
}

func pair(share1, want1, share2, want2 int) group {
	return group{
		{Policy{Share: share1}, set(1, 0, want1), set(1, 0, want1)},
		{Policy{Share: share2}, set(2, 0, want2), set(2, 0, want2)},
	}
}

// rounds has all members move in turn, and returns after how many rounds
// nothing changed any more.
func (g group) rounds(t *testing.T) int {
	t.Helper()
	for round := range 100 {
		before := g.sizes()
		for _, m := range g {
			m.moves(Others{Held: g.holds(m), All: true})
		}
		if g.sizes() == before {
			return round
		}
	}
	t.Fatalf("does not come to rest: %s", g.sizes())
	return 0
}

// Both want no more than a fifth, which cannot be. They do not chase each other
// down to one target each: the group keeps what one of them could fill.
func TestTwoSmallSharesDoNotChaseEachOther(t *testing.T) {
	g := pair(20, 10, 20, 10)
	for round := range 200 {
		m := g[round%2]
		m.moves(Others{Held: g.holds(m), All: true})
		if n := len(g.holds(nil)); n < 10 {
			t.Fatalf("round %d: the group has %d targets: %s", round, n, g.sizes())
		}
	}
	if len(g[0].held) != 2 || len(g[1].held) != 8 {
		t.Errorf("got %s", g.sizes())
	}
}

func TestAShiftFromOneClusterToAnother(t *testing.T) {
	g := pair(100, 10, 0, 10)
	blue, green := g[0], g[1]
	green.held = ownership.Set{}
	for _, c := range []struct {
		blue, green         int // shares
		blueHeld, greenHeld int
	}{
		{100, 0, 10, 0},
		{100, 20, 10, 2},
		{80, 20, 8, 2},
		{50, 50, 8, 8}, // first green fills up, then blue may keep as many
		{20, 80, 2, 8},
		{20, 100, 2, 10},
		{0, 100, 0, 10},
		// And back, all at once: green leaves when blue has its place.
		{100, 0, 10, 0},
	} {
		blue.Share, green.Share = c.blue, c.green
		g.rounds(t)
		if len(blue.held) != c.blueHeld || len(green.held) != c.greenHeld {
			t.Errorf("%d%% and %d%%: got %s", c.blue, c.green, g.sizes())
		}
	}
}

// Members of any sizes and shares move in any order, and their endpoints are
// replaced now and then. No move on account of a share leaves the group with
// less than both it had and the member could fill, and in the end all is at
// rest, within the shares where the group allows it.
func TestSharesKeepTheGroupFull(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		g := make(group, 2+random.IntN(3))
		for i := range g {
			want := set(i, 0, random.IntN(30))
			g[i] = &member{Policy{Share: random.IntN(101), Maximum: random.IntN(30)}, want, ownership.Set{}}
			if random.IntN(2) == 0 {
				g[i].held = maps.Clone(want)
			}
		}
		for step := range 300 {
			m := g[random.IntN(len(g))]
			if step < 200 && random.IntN(10) == 0 {
				n := random.IntN(20)
				m.want = set(step%3+10*random.IntN(3), n, n+random.IntN(20))
				maps.DeleteFunc(m.held, func(t ownership.Target, _ bool) bool { return !m.want[t] })
			}
			before, over := len(g.holds(nil)), max(len(m.held)-m.fill(), 0) // leave by the maximum
			others := Others{Held: g.holds(m), All: random.IntN(10) > 0}
			m.moves(others)
			if after := len(g.holds(nil)); after < min(before-over, m.fill()) {
				t.Fatalf("seed %d, step %d: the group had %d targets and has %d: %s", seed, step, before, after, g.sizes())
			}
		}
		g.rounds(t)
		for _, m := range g {
			others := g.holds(m)
			if m.Share == 100 || len(others) == 0 {
				continue
			}
			limit := max(1, len(others)*m.Share/(100-m.Share))
			if n := len(m.held); n > limit && n+apart(others, m.want) > m.fill() {
				t.Fatalf("seed %d: %d targets are more than a share of %d, and nobody needs them: %s", seed, n, limit, g.sizes())
			}
		}
	}
}
