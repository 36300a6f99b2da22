package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

const (
	blue  ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"
	green ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/green/fedcba9876543210"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)

// unordered compares listings whatever their order.
var unordered = cmp.Options{
	cmpopts.SortSlices(func(a, b ownership.Record) bool { return a.Owner.String() < b.Owner.String() }),
	cmpopts.SortSlices(func(a, b ownership.Cluster) bool { return a.ID < b.ID }),
	cmpopts.SortSlices(func(a, b ownership.Key) bool { return fmt.Sprint(a) < fmt.Sprint(b) }),
}

// numbered returns one of many groups.
func numbered(i int) ownership.GroupARN {
	return ownership.GroupARN(fmt.Sprintf("arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/g%d/0123456789abcdef", i))
}

func owner(cluster string) ownership.Owner {
	return ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}
}

// record returns the first revision of a record that holds one target and
// releases another.
func record(group ownership.GroupARN, o ownership.Owner) ownership.Record {
	return ownership.Record{
		Group:             group,
		Owner:             o,
		BindingUID:        "8a5c9b52-6d7e-4a53-9c8f-3f0f6f2d1a10",
		Held:              map[ownership.Target]time.Time{"10.0.0.5:8080": noon},
		Releasing:         map[ownership.Target]time.Time{"10.0.0.6:8080": noon.Add(time.Minute)},
		Revision:          ownership.Revision{Version: 1, WriteID: "write-1"},
		Exclusive:         true,
		UpdatedAt:         noon.Add(time.Hour),
		ControllerVersion: "v1.2.3",
	}
}

// after returns rec as its next write, and the revision which that follows.
func after(rec ownership.Record, writeID string) (next ownership.Record, seen ownership.Revision) {
	seen = rec.Revision
	next = rec.Clone()
	next.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: writeID}
	return next, seen
}

func create(t testing.TB, s ownership.Store, recs ...ownership.Record) {
	t.Helper()
	for _, rec := range recs {
		if err := s.Put(t.Context(), rec, ownership.Revision{}); err != nil {
			t.Fatalf("create the record of %s: %v", rec.Owner, err)
		}
	}
}

// expectRecords compares the whole content of a group.
func expectRecords(t testing.TB, s ownership.Store, group ownership.GroupARN, want ...ownership.Record) {
	t.Helper()
	got, err := s.Records(t.Context(), group)
	if err != nil {
		t.Fatalf("read the records: %v", err)
	}
	if len(got.Unreadable) > 0 {
		t.Errorf("unreadable items: %v", got.Unreadable)
	}
	if diff := cmp.Diff(want, got.Records, unordered, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func expectConflict(t testing.TB, err error) {
	t.Helper()
	NewWithT(t).Expect(err).To(MatchError(ownership.ErrConflict))
}
