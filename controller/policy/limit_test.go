package policy

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"target-ownership-controller/ownership"
)

// set has targets from..to-1 of a network.
func set(network, from, to int) ownership.Set {
	s := ownership.Set{}
	for i := from; i < to; i++ {
		s[ownership.Target(fmt.Sprintf("10.%d.0.%d:80", network, i))] = true
	}
	return s
}

func TestLimit(t *testing.T) {
	const maximum, share = prefix + "maximum", prefix + "share"
	for name, c := range map[string]struct {
		maximum, share int
		want, held     int // of our own
		others         int
		shared         int // of those of others, that are wanted here too
		unknown        bool
		limit          int
		why            string
	}{
		"none": {share: 100, want: 10, others: 90, limit: 10},

		"maximum":                          {maximum: 3, share: 100, want: 10, limit: 3, why: maximum + " is 3"},
		"maximum that is not reached":      {maximum: 10, share: 100, want: 10, limit: 10},
		"maximum below what is held":       {maximum: 3, share: 100, want: 10, held: 10, limit: 3, why: maximum + " is 3"},
		"maximum without any endpoint":     {maximum: 3, share: 100, limit: 0},
		"maximum, and nobody knows others": {maximum: 3, share: 100, want: 10, unknown: true, limit: 3, why: maximum + " is 3"},

		"a fifth":                   {share: 20, want: 10, others: 10, limit: 2, why: share + " is 20%, and other owners hold 10 targets"},
		"a fifth, rounded down":     {share: 20, want: 10, others: 15, limit: 3, why: share + " is 20%, and other owners hold 15 targets"},
		"one at least":              {share: 20, want: 10, others: 3, limit: 1, why: share + " is 20%, and other owners hold 3 targets"},
		"half":                      {share: 50, want: 10, others: 7, limit: 7, why: share + " is 50%, and other owners hold 7 targets"},
		"almost all":                {share: 99, want: 1000, others: 10, limit: 990, why: share + " is 99%, and other owners hold 10 targets"},
		"a share with room":         {share: 50, want: 10, others: 10, limit: 10},
		"alone":                     {share: 20, want: 10, limit: 10},
		"alone, with a maximum":     {share: 20, maximum: 4, want: 10, limit: 4, why: maximum + " is 4"},
		"the maximum is smaller":    {share: 50, maximum: 4, want: 10, others: 10, limit: 4, why: maximum + " is 4"},
		"the share is smaller":      {share: 20, maximum: 4, want: 10, others: 10, limit: 2, why: share + " is 20%, and other owners hold 10 targets"},
		"nothing":                   {share: 0, want: 10, others: 10, limit: 0, why: share + " is 0%, and other owners hold 10 targets"},
		"nothing, although alone":   {share: 0, want: 10, limit: 0, why: share + " is 0%, and other owners hold 0 targets"},
		"nothing, but what is held": {share: 0, want: 10, held: 4, limit: 4, why: share + " is 0%, and other owners hold 0 targets"},

		"held ones leave":                             {share: 20, want: 10, held: 10, others: 10, limit: 2, why: share + " is 20%, and other owners hold 10 targets"},
		"held ones have no place elsewhere":           {share: 20, want: 10, held: 10, others: 2, limit: 8, why: share + " is 20%, and other owners hold 2 targets"},
		"nor come others back":                        {share: 20, want: 10, held: 5, others: 2, limit: 5, why: share + " is 20%, and other owners hold 2 targets"},
		"held ones that are dead are replaced":        {share: 20, want: 6, held: 10, others: 2, limit: 4, why: share + " is 20%, and other owners hold 2 targets"},
		"with a maximum the place to fill is smaller": {share: 20, maximum: 5, want: 10, held: 10, others: 2, limit: 3, why: share + " is 20%, and other owners hold 2 targets"},
		"what is held in common takes no place":       {share: 20, want: 10, held: 10, others: 10, shared: 10, limit: 10},
		"nor does a part of it":                       {share: 20, want: 10, held: 10, others: 10, shared: 4, limit: 4, why: share + " is 20%, and other owners hold 10 targets"},

		"unknown: none leaves":           {share: 20, want: 10, held: 7, others: 10, unknown: true, limit: 7, why: share + " is 20%, and other owners hold 10 targets or more"},
		"unknown: none joins beyond":     {share: 20, want: 10, held: 1, others: 10, unknown: true, limit: 2, why: share + " is 20%, and other owners hold 10 targets or more"},
		"unknown is not alone":           {share: 20, want: 10, unknown: true, limit: 1, why: share + " is 20%, and other owners hold 0 targets or more"},
		"unknown, and nothing":           {share: 0, want: 10, held: 3, others: 10, unknown: true, limit: 3, why: share + " is 0%, and other owners hold 10 targets or more"},
		"unknown without any share":      {share: 100, want: 10, unknown: true, limit: 10},
		"unknown, with all of it wanted": {share: 20, want: 5, held: 8, unknown: true, limit: 5},
	} {
		t.Run(name, func(t *testing.T) {
			others := set(2, c.shared, c.others)
			maps.Copy(others, set(1, 0, c.shared))
			got := Policy{Maximum: c.maximum, Share: c.share}.Limit(set(1, 0, c.want), c.held, Others{Held: others, All: !c.unknown})
			if want := (Limit{c.limit, c.why}); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	want := set(1, 0, 40)
	held, listed := set(1, 5, 10), set(1, 20, 30)
	rank := func(t ownership.Target) int {
		switch {
		case held[t]:
			return 0
		case listed[t]:
			return 1
		default:
			return 2
		}
	}
	chosen := func(n int) []ownership.Target { return slices.Sorted(maps.Keys(Choose(want, n, rank))) }
	for n := 1; n < 42; n++ {
		got := Choose(want, n, rank)
		if len(got) != min(n, 40) {
			t.Fatalf("%d chosen of %d", len(got), n)
		}
		if !slices.Equal(chosen(n), slices.Sorted(maps.Keys(got))) {
			t.Fatalf("%d: another choice the second time", n)
		}
		for target := range Choose(want, n-1, rank) {
			if !got[target] {
				t.Fatalf("%d: %s is not chosen, and was of %d", n, target, n-1)
			}
		}
	}
	if got := chosen(5); !slices.Equal(got, slices.Sorted(maps.Keys(held))) {
		t.Errorf("held ones come first, got %v", got)
	}
	for target := range Choose(want, 15, rank) {
		if rank(target) == 2 {
			t.Errorf("%s is neither held nor registered", target)
		}
	}
	// The order among equals is that of a hash, which does not go by address.
	if got := chosen(20); slices.Equal(got[:5], slices.Sorted(maps.Keys(set(1, 0, 5)))) {
		t.Errorf("the choice goes by address: %v", got)
	}
	if len(want) != 40 {
		t.Error("what was wanted has changed")
	}
}

// Two subnets have about the same part of a maximum.
func TestChooseFavoursNoSubnet(t *testing.T) {
	want := set(1, 0, 200)
	maps.Copy(want, set(2, 0, 200))
	first := 0
	for target := range Choose(want, 100, func(ownership.Target) int { return 0 }) {
		if set(1, 0, 200)[target] {
			first++
		}
	}
	if first < 35 || first > 65 {
		t.Errorf("%d of 100 are of one subnet of two", first)
	}
}
