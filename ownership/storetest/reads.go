package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func roundTrip(t *testing.T, h Harness) {
	rec := record(blue, ownership.Owner{Cluster: "Prod_eu.west-1", Namespace: "team-a", Name: "web.v2"})
	rec.Held = map[ownership.Target]time.Time{
		"10.0.0.5:8080":         noon,
		"[2001:db8::5]:8080":    noon.Add(time.Millisecond),
		"i-0abc123def4567:3008": noon.Add(-time.Hour),
	}
	rec.Releasing = map[ownership.Target]time.Time{
		"[2001:db8::6]:65535": noon.In(time.FixedZone("elsewhere", 3600)),
	}
	create(t, h.Store, rec)
	expectRecords(t, h.Store, blue, rec)
}

func roundTripEmpty(t *testing.T, h Harness) {
	g := NewWithT(t)
	rec := record(blue, owner("a"))
	rec.Held, rec.Releasing, rec.ControllerVersion = nil, nil, ""
	create(t, h.Store, rec)

	got, err := h.Store.Records(t.Context(), blue)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Records).To(HaveLen(1))
	g.Expect(got.Records[0].Held).To(And(BeEmpty(), Not(BeNil())))
	g.Expect(got.Records[0].Releasing).To(And(BeEmpty(), Not(BeNil())))
	expectRecords(t, h.Store, blue, rec)
}

func roundTripLarge(t *testing.T, h Harness) {
	rec := record(blue, owner("a"))
	for i := range 998 {
		rec.Held[target(t, fmt.Sprintf("2001:db8:1:2:3:4:5:%x", i+1))] = noon.Add(time.Duration(i) * time.Millisecond)
	}
	create(t, h.Store, rec)
	expectRecords(t, h.Store, blue, rec)
}

func noAliasing(t *testing.T, h Harness) {
	rec := record(blue, owner("a"))
	create(t, h.Store, rec)
	want := rec.Clone()

	delete(rec.Held, "10.0.0.5:8080")
	got, err := h.Store.Records(t.Context(), blue)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, r := range got.Records {
		r.Releasing["10.9.9.9:1"] = noon
	}
	expectRecords(t, h.Store, blue, want)
}

func completeListing(t *testing.T, h Harness) {
	var all []ownership.Record
	for i := range 35 {
		all = append(all, record(blue, owner(fmt.Sprintf("cluster-%02d", i))))
	}
	create(t, h.Store, all...)
	expectRecords(t, h.Store, blue, all...)
}

func isolation(t *testing.T, h Harness) {
	expectRecords(t, h.Store, blue)
	inBlue, inGreen := record(blue, owner("a")), record(green, owner("a"))
	inGreen.Held = map[ownership.Target]time.Time{"10.0.0.9:9090": noon}
	create(t, h.Store, inBlue, inGreen)
	// An entry of the registry is in the same table and in no group.
	NewWithT(t).Expect(h.Registry.PutCluster(t.Context(), cluster("a"), ownership.Revision{})).To(Succeed())
	expectRecords(t, h.Store, blue, inBlue)
	expectRecords(t, h.Store, green, inGreen)

	NewWithT(t).Expect(h.Store.Delete(t.Context(), inBlue)).To(Succeed())
	expectRecords(t, h.Store, blue)
	expectRecords(t, h.Store, green, inGreen)
}

func groupsByCluster(t *testing.T, h Harness) {
	var want []ownership.Key
	for i := range 25 {
		group := numbered(i)
		create(t, h.Store, record(group, owner("a")), record(group, owner("b")), record(group, owner("a-b")))
		want = append(want, ownership.Key{Group: group, Owner: owner("a")})
	}
	second := record(blue, ownership.Owner{Cluster: "a", Namespace: "shop", Name: "api"})
	create(t, h.Store, record(blue, owner("a")), second)
	want = append(want, ownership.Key{Group: blue, Owner: owner("a")}, ownership.Key{Group: blue, Owner: second.Owner})
	NewWithT(t).Expect(h.Registry.PutCluster(t.Context(), cluster("a"), ownership.Revision{})).To(Succeed())

	// The index follows the table with a delay.
	var got []ownership.Key
	NewWithT(t).Eventually(func() (int, error) {
		var err error
		got, err = h.Store.Groups(t.Context(), "a")
		return len(got), err
	}, 10*time.Second).Should(Equal(len(want)))
	if diff := cmp.Diff(want, got, unordered); diff != "" {
		t.Errorf("groups of cluster a (-want +got):\n%s", diff)
	}
	NewWithT(t).Expect(h.Store.Groups(t.Context(), "nobody")).To(BeEmpty())
}
