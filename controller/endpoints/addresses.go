package endpoints

import (
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"target-ownership-controller/ownership"
)

// Hold has targets of type ip stay that are held already and whose endpoint is
// terminating and serves still. Its zero value has none stay.
type Hold struct {
	For   time.Duration // after the endpoint was first seen so
	Since Since         // what earlier answers said
	Now   time.Time
}

// Since is when endpoints were first seen to be terminating.
type Since map[Draining]time.Time

// Draining is the Pod behind a target: another one may have its address later.
type Draining struct {
	Target ownership.Target
	Pod    types.UID // empty if it is not a Pod
}

// addresses chooses among the endpoints for targets of type ip.
type addresses struct {
	query Query
	want  Want
	rest  map[ownership.Target]found // those that are not live
}

func newAddresses(q Query) *addresses {
	return &addresses{query: q, want: newWant(), rest: map[ownership.Target]found{}}
}

// see takes down what matters of an endpoint. Those that are not live matter
// only to a binding that asks for some of them to stay.
func (a *addresses) see(f found) {
	if f.phase != phaseLive && a.query.Hold.For == 0 && a.query.Minimum == nil {
		return
	}
	t, problem := addressTarget(f, a.query.Family)
	switch {
	case problem != "" && f.phase == phaseLive:
		a.want.skip("endpoint "+f.address, problem)
	case problem != "":
	case f.phase == phaseLive:
		a.want.Targets[t] = true
		if f.asks {
			a.want.Waiting[f.pod] = t
		}
	case f.phase > a.rest[t].phase:
		a.rest[t] = f
	}
}

func addressTarget(f found, family string) (t ownership.Target, problem string) {
	addr, err := netip.ParseAddr(f.address)
	addr = addr.Unmap()
	if err == nil && addr.Is6() != (family == familyIPv6) {
		return "", "its address is not of the family of the target group"
	}
	t, err = ownership.NewTarget(f.address, f.port)
	if err != nil {
		return "", err.Error()
	}
	return t, ""
}

// choose adds to the live endpoints what stays of the others.
//
//	endpoint                        | not held | held
//	ready                           | wanted   | wanted
//	not ready                       | no       | as far as the minimum needs it
//	terminating, serves             | no       | until its hold is over
//	terminating, serves no more     | no       | no
//	in no slice                     | no       | no
func (a *addresses) choose() Want {
	ready := len(a.want.Targets)
	there, spare := ready, []ownership.Target(nil)
	for t, f := range a.rest {
		if a.want.Targets[t] {
			continue
		}
		if f.phase == phaseUnready {
			there++
		}
		switch held := a.query.holds(t); {
		case held && f.phase == phaseUnready:
			spare = append(spare, t)
		case held && f.phase == phaseServing && a.hold(Draining{t, f.pod}):
			a.want.Targets[t] = true
		}
	}
	a.want.keep(a.query.Minimum, there, ready, spare)
	return a.want
}

// hold reports whether the hold of an endpoint goes on. When it began is
// remembered also after its end: it would begin anew otherwise.
func (a *addresses) hold(d Draining) bool {
	h := a.query.Hold
	if h.For == 0 {
		return false
	}
	since, known := h.Since[d]
	if !known {
		since = h.Now
	}
	a.want.Since[d] = since
	until := since.Add(h.For)
	if !until.After(h.Now) {
		return false
	}
	if a.want.Until.IsZero() || until.Before(a.want.Until) {
		a.want.Until = until
	}
	return true
}
