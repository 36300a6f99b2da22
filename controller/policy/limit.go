package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// Others is what is known of the other owners of a group.
type Others struct {
	Held ownership.Set // targets that they hold
	All  bool          // and no more: all records could be read
}

// Limit is how many targets a binding may have.
type Limit struct {
	Targets int
	Why     string // it is less than the binding could fill; empty if not
}

// Limits reports whether there may be fewer targets than the binding could fill.
func (p Policy) Limits() bool { return p.Maximum > 0 || p.Share < 100 }

// Limit works out how many targets a binding may have that wants some and holds
// a number, wanted or not. Without a share others do not matter.
func (p Policy) Limit(want ownership.Set, held int, others Others) Limit {
	l := Limit{Targets: len(want)}
	if 0 < p.Maximum && p.Maximum < l.Targets {
		l = Limit{p.Maximum, fmt.Sprintf("%s is %d", v1beta1.MaximumAnnotation, p.Maximum)}
	}
	if n, limited := p.share(want, l.Targets, held, others); limited && n < l.Targets {
		l = Limit{n, fmt.Sprintf("%s is %d%%, and other owners hold %d targets", v1beta1.ShareAnnotation, p.Share, len(others.Held))}
		if !others.All {
			l.Why += " or more"
		}
	}
	return l
}

// share is the limit of a binding that could fill some targets. With s percent
// of all it has s for each 100-s of the others, and at least one.
//
// Where others hold nothing there is no limit, since nobody else would be left;
// but 0% means none. In no case is a target given up before others have its
// place: the group keeps as many targets as this binding alone could fill. And
// what is not known takes none out, and lets none in beyond what there is.
func (p Policy) share(want ownership.Set, fill, held int, others Others) (n int, limited bool) {
	if p.Share == 100 || p.Share > 0 && others.All && len(others.Held) == 0 {
		return 0, false
	}
	n = len(others.Held) * p.Share / (100 - p.Share)
	if p.Share > 0 {
		n = max(n, 1)
	}
	if !others.All {
		return max(n, held), true
	}
	return max(n, min(held, fill-apart(others.Held, want))), true
}

// apart counts the targets of others that are none of ours: only these take the
// place of one.
func apart(others, want ownership.Set) int {
	n := 0
	for t := range others {
		if !want[t] {
			n++
		}
	}
	return n
}

// Choose returns n of the targets: those of a lower rank before others, and
// among equals the first in the order of [ownership.Spread].
func Choose(want ownership.Set, n int, rank func(ownership.Target) int) ownership.Set {
	if n >= len(want) {
		return want
	}
	ranks := make(map[ownership.Target]int, len(want))
	for t := range want {
		ranks[t] = rank(t)
	}
	all := slices.SortedFunc(maps.Keys(want), func(a, b ownership.Target) int {
		return cmp.Or(cmp.Compare(ranks[a], ranks[b]), ownership.Spread(a, b))
	})
	chosen := make(ownership.Set, n)
	for _, t := range all[:n] {
		chosen[t] = true
	}
	return chosen
}
