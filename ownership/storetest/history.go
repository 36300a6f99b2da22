package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
)

// entry is one that nothing is left out of, i minutes after noon.
func entry(group ownership.GroupARN, i int, targets ...ownership.Target) history.Entry {
	at := noon.Add(time.Duration(i)*time.Minute + 1) // a nanosecond has to come through
	return history.Entry{
		Group: group, Time: at, ID: fmt.Sprintf("id-%02d", i),
		Cluster: "east", Binding: "shop/web", By: "controller v1.2.3",
		Events: []history.Event{
			{What: history.Deregistered, Reason: "no other owner holds it", Targets: targets},
			{What: history.Kept, Reason: "another owner holds it", Targets: []ownership.Target{"[2001:db8::5]:8080"}, More: 7, Others: []string{"west/shop/web"}},
		},
		Expires: noon.Add(time.Hour).Truncate(time.Second),
	}
}

// plain is an entry that concerns only the targets.
func plain(group ownership.GroupARN, i int, targets ...ownership.Target) history.Entry {
	e := entry(group, i, targets...)
	e.Events = e.Events[:1]
	return e
}

func add(t *testing.T, s history.Store, entries ...history.Entry) {
	t.Helper()
	for _, e := range entries {
		NewWithT(t).Expect(s.Record(t.Context(), e)).To(Succeed())
	}
}

func expectHistory(t *testing.T, s history.Store, q history.Query, want ...history.Entry) {
	t.Helper()
	var got []history.Entry
	for e, err := range s.History(t.Context(), q) {
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		got = append(got, e)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func roundTripEntry(t *testing.T, h Harness) {
	e := entry(blue, 1, "10.0.0.5:8080", "10.0.0.6:8080")
	add(t, h.History, e)
	expectHistory(t, h.History, history.Query{Group: blue}, e)

	lasting := plain(green, 1, "10.0.0.5:8080")
	lasting.Expires = time.Time{}
	add(t, h.History, lasting)
	expectHistory(t, h.History, history.Query{Group: green}, lasting)
}

func newestFirst(t *testing.T, h Harness) {
	var want []history.Entry
	for i := range 12 {
		e := plain(blue, i, "10.0.0.5:8080")
		add(t, h.History, e)
		want = append([]history.Entry{e}, want...)
	}
	expectHistory(t, h.History, history.Query{Group: blue}, want...)
}

func selectHistory(t *testing.T, h Harness) {
	const x, y = "10.0.0.5:8080", "10.0.0.6:8080"
	var e []history.Entry
	for i := range 12 {
		e = append(e, plain(blue, i, x))
		if i%3 == 0 {
			e[i].Events[0].Targets = []ownership.Target{y}
		}
	}
	add(t, h.History, e...)
	expectHistory(t, h.History, history.Query{Group: blue, Since: e[9].Time}, e[11], e[10], e[9])
	expectHistory(t, h.History, history.Query{Group: blue, Since: e[9].Time.Add(1)}, e[11], e[10])
	expectHistory(t, h.History, history.Query{Group: blue, Target: y}, e[9], e[6], e[3], e[0])
	expectHistory(t, h.History, history.Query{Group: blue, Target: y, Limit: 3}, e[9], e[6], e[3])
	expectHistory(t, h.History, history.Query{Group: blue, Limit: 5}, e[11], e[10], e[9], e[8], e[7])
}

func recordTwice(t *testing.T, h Harness) {
	e := plain(blue, 1, "10.0.0.5:8080")
	add(t, h.History, e, e)
	expectHistory(t, h.History, history.Query{Group: blue}, e)
}

// A look that met history among the records would find them unreadable, and
// take nothing out of the group any more.
func historyApart(t *testing.T, h Harness) {
	rec := record(blue, owner("east"))
	create(t, h.Store, rec)
	add(t, h.History, entry(blue, 1, "10.0.0.5:8080"), entry(green, 1, "10.0.0.5:8080"))
	expectRecords(t, h.Store, blue, rec)
	expectRecords(t, h.Store, green)
	keys, err := h.Store.Groups(t.Context(), "east")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(keys).To(ConsistOf(ownership.Key{Group: blue, Owner: owner("east")}))
	clusters, err := h.Registry.Clusters(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(clusters).To(Equal(ownership.Clusters{}))
	expectHistory(t, h.History, history.Query{Group: green}, entry(green, 1, "10.0.0.5:8080"))
}
