package history_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

func targets(n int) []ownership.Target {
	list := make([]ownership.Target, n)
	for i := range list {
		list[i] = ownership.Target(fmt.Sprintf("10.0.%d.%d:8080", i/250, i%250))
	}
	return list
}

// What an entry has no room for is counted, so that nobody takes a part for
// the whole.
func TestBoundSaysWhatItLeavesOut(t *testing.T) {
	all := targets(history.MaxTargets + 40)
	e := history.Entry{Events: []history.Event{
		{What: history.Registered, Targets: all[:history.MaxTargets-10]},
		{What: history.Deregistered, Targets: all[history.MaxTargets-10:]},
	}}
	bounded := e.Bound()
	if n := len(bounded.Events[0].Targets); n != history.MaxTargets-10 || bounded.Events[0].More != 0 {
		t.Errorf("the first event names %d targets and %d more", n, bounded.Events[0].More)
	}
	if n := len(bounded.Events[1].Targets); n != 10 || bounded.Events[1].More != 40 {
		t.Errorf("the second event names %d targets and %d more", n, bounded.Events[1].More)
	}
	if len(e.Events[1].Targets) != 50 {
		t.Error("the entry that was bounded has changed")
	}
	last := all[len(all)-1]
	if !bounded.Concerns(last) {
		t.Errorf("%s was left out, and the entry says that it is not about it", last)
	}
}

// Whoever searches the table for a target finds it, however much a pass did: all
// 1,000 that came and 1,000 that went are named, in the order of the pass.
func TestSplitLeavesNothingOut(t *testing.T) {
	all := targets(2000)
	e := history.Entry{ID: "id", Cluster: "east", Events: []history.Event{
		{What: history.Registered, Reason: "live", Targets: all[:1000], Others: []string{"west/shop/web"}},
		{What: history.Deregistered, Reason: "gone", Targets: all[1000:], More: 7},
	}}
	var ids []string
	var named []ownership.Target
	more := 0
	for _, part := range e.Split() {
		ids = append(ids, part.ID)
		size := 0
		for _, event := range part.Events {
			size += len(event.Targets)
			more += event.More
			named = append(named, event.Targets...)
			if len(event.Targets) == 0 {
				t.Errorf("part %s has an event without targets", part.ID)
			}
			if event.What == history.Registered && !slices.Equal(event.Others, []string{"west/shop/web"}) {
				t.Errorf("part %s lost the others", part.ID)
			}
		}
		if part.Cluster != "east" || size > history.MaxTargets || cap(part.Events[0].Targets) > 2*history.MaxTargets {
			t.Errorf("part %s of %q names %d targets, and has room for %d", part.ID, part.Cluster, size, cap(part.Events[0].Targets))
		}
	}
	if want := []string{"id", "id-02", "id-03", "id-04", "id-05", "id-06", "id-07"}; !slices.Equal(ids, want) {
		t.Errorf("the parts are %v, want %v", ids, want)
	}
	if !slices.Equal(named, all) || more != 7 {
		t.Errorf("%d targets are named, of %d, and %d more", len(named), len(all), more)
	}
}

// Nor are events left out, of a pass that has many reasons.
func TestSplitOfManyEvents(t *testing.T) {
	var e history.Entry
	for i := range 2*history.MaxEvents + 1 {
		e.Events = append(e.Events, history.Event{What: history.Refused, Reason: fmt.Sprint(i), Targets: targets(1)})
	}
	parts := e.Split()
	if len(parts) != 3 || len(parts[1].Events) != history.MaxEvents || len(parts[2].Events) != 1 || parts[2].Events[0].Reason != "32" {
		t.Errorf("%d parts: %+v", len(parts), parts)
	}
}

// What fits stays as it is.
func TestSplitOfALittle(t *testing.T) {
	e := history.Entry{ID: "id", Events: []history.Event{
		{What: history.Registered, Reason: "live", Targets: targets(history.MaxTargets)},
		{What: history.Refused, Reason: "no group"},
	}}
	if got := e.Split(); !reflect.DeepEqual(got, []history.Entry{e}) {
		t.Errorf("%d parts, the first of %d events", len(got), len(got[0].Events))
	}
	if parts := (history.Entry{ID: "id"}).Split(); len(parts) != 1 {
		t.Errorf("an entry without events has %d parts", len(parts))
	}
}

func TestBoundCutsReasonsBetweenCharacters(t *testing.T) {
	e := history.Entry{Events: []history.Event{{What: history.Refused, Reason: strings.Repeat("é", 400)}}}
	reason := e.Bound().Events[0].Reason
	if !utf8.ValidString(reason) || !strings.HasSuffix(reason, "é…") || len(reason) > 400 {
		t.Errorf("%d bytes: %s", len(reason), reason)
	}
}

func TestConcerns(t *testing.T) {
	e := history.Entry{Events: []history.Event{{What: history.Kept, Targets: targets(2)}}}
	if !e.Concerns("10.0.0.1:8080") || e.Concerns("10.0.0.2:8080") {
		t.Error("an entry is about the targets that it names, and no others")
	}
}

func TestMergePutsEventsOfOneKindTogether(t *testing.T) {
	west := []string{"west/shop/web"}
	got := history.Merge([]history.Event{
		{What: history.Deregistered, Reason: "gone", Targets: []ownership.Target{"10.0.0.9:80"}},
		{What: history.Kept, Reason: "held", Others: west, Targets: []ownership.Target{"10.0.0.3:80"}},
		{What: history.Claimed, Reason: "live", Targets: []ownership.Target{"10.0.0.2:80"}},
		{What: history.Kept, Reason: "held", Targets: []ownership.Target{"10.0.0.4:80"}},
		{What: history.Claimed, Reason: "live", Targets: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80"}},
	})
	want := []history.Event{
		{What: history.Claimed, Reason: "live", Targets: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80"}},
		{What: history.Deregistered, Reason: "gone", Targets: []ownership.Target{"10.0.0.9:80"}},
		{What: history.Kept, Reason: "held", Others: west, Targets: []ownership.Target{"10.0.0.3:80"}},
		{What: history.Kept, Reason: "held", Targets: []ownership.Target{"10.0.0.4:80"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
