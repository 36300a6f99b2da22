package history_test

import (
	"fmt"
	"reflect"
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
