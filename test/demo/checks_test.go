package demo

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

func TestVerifyCountsUpToTheFirstFailure(t *testing.T) {
	g := NewWithT(t)
	var l checklist
	g.Expect(l.verify(expect("one", nil), expect("two", nil))).To(Succeed())
	wrong := errors.New("it is not")
	err := l.verify(expect("three", nil), expect("four", wrong), expect("five", nil))
	g.Expect(err).To(MatchError(wrong))
	g.Expect(err).To(MatchError("check failed: four: it is not"))
	g.Expect(l.passed()).To(Equal(3))
}

func TestDifference(t *testing.T) {
	g := NewWithT(t)
	g.Expect(difference(set{"a": true}, set{"a": true})).To(Succeed())
	g.Expect(difference(set{"a": true, "d": true}, set{"c": true, "b": true, "a": true})).
		To(MatchError("missing b, c; too many d"))
}

func TestHalfWayIsFlaggedAndNothingDone(t *testing.T) {
	flagged := func() view {
		v := newView("east")
		v.held["east"] = set{"new1": true, "new2": true}
		v.pods["east"] = set{"new1": true, "new2": true}
		v.releasing["east"] = set{"old1": true, "old2": true, "old3": true, "old4": true}
		for old := range v.releasing["east"] {
			v.health[old] = "healthy"
		}
		return v
	}
	for _, tt := range []struct {
		name   string
		change func(view)
		want   string
	}{
		{"flagged", func(view) {}, ""},
		{"not all new ones", func(v view) { delete(v.held["east"], "new1") }, "held: missing new1"},
		{"one registered", func(v view) { v.health["new2"] = "initial" }, "1 of the held targets are registered"},
		{"not all old ones", func(v view) { delete(v.releasing["east"], "old1") }, "3 targets are releasing, not 4"},
		{"one taken out", func(v view) { delete(v.health, "old3") }, "out of the group already: [old3]"},
	} {
		v := flagged()
		tt.change(v)
		got := ""
		if err := halfWay(v, "east"); err != nil {
			got = err.Error()
		}
		NewWithT(t).Expect(got).To(Equal(tt.want), tt.name)
	}
}

func TestCallsForATarget(t *testing.T) {
	g := NewWithT(t)
	begun := time.Unix(100, 0)
	call := func(after time.Duration, caller, action string, targets ...string) elbsim.Entry {
		return elbsim.Entry{Call: elbsim.Call{Time: begun.Add(after), Caller: caller, Action: action, Targets: targets}}
	}
	calls := callsFor([]elbsim.Entry{
		call(-time.Second, "east", "RegisterTargets", "x"),
		call(time.Second, "west", "RegisterTargets", "w", "x"),
		call(time.Second, "west", "DescribeTargetHealth", "x"),
		call(2*time.Second, "east", "DeregisterTargets", "y"),
		call(2500*time.Millisecond, "east", "DeregisterTargets", "x"),
	}, "x", begun)
	g.Expect(narrate(calls, begun)).To(Equal("RegisterTargets by west after 1.0s, DeregisterTargets by east after 2.5s"))
	g.Expect(narrate(nil, begun)).To(Equal("nothing"))

	g.Expect(waited(calls, begun.Add(time.Second))).To(Succeed())
	g.Expect(waited(calls, begun.Add(3*time.Second))).To(MatchError("west registered it 2s too early"))
	g.Expect(waited(calls[1:], begun)).To(MatchError("nobody registered it"))
}
