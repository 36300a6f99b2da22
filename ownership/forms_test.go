package ownership_test

import (
	"net/netip"
	"strings"
	"testing"

	"target-ownership-controller/ownership"
)

// FuzzNewTarget: however an address is spelt, it is one target, and two
// addresses are two.
func FuzzNewTarget(f *testing.F) {
	f.Add([]byte{10, 0, 0, 5}, []byte{10, 0, 0, 6}, uint16(8080))
	f.Add(netip.MustParseAddr("2001:db8::5").AsSlice(), netip.MustParseAddr("::ffff:10.0.0.5").AsSlice(), uint16(1))
	f.Add(netip.MustParseAddr("::ffff:10.0.0.5").AsSlice(), []byte{10, 0, 0, 5}, uint16(80))
	f.Add(netip.MustParseAddr("::").AsSlice(), []byte{0, 0, 0, 0}, uint16(65535))
	f.Fuzz(func(t *testing.T, one, other []byte, port uint16) {
		a, ok := netip.AddrFromSlice(one)
		b, okOther := netip.AddrFromSlice(other)
		if !ok || !okOther || port == 0 {
			return
		}
		first, err := ownership.NewTarget(a.String(), int(port))
		if err != nil {
			t.Fatal(err)
		}
		spellings := []string{strings.ToUpper(a.String()), a.Unmap().String()}
		if a.Is6() {
			spellings = append(spellings, a.StringExpanded())
		}
		for _, spelt := range spellings {
			if again, err := ownership.NewTarget(spelt, int(port)); again != first {
				t.Fatalf("%s is %q, and as %s %q, %v", a, first, spelt, again, err)
			}
		}
		if second, err := ownership.NewTarget(b.String(), int(port)); (second == first) != (a.Unmap() == b.Unmap()) {
			t.Fatalf("%s is %q and %s is %q, %v", a, first, b, second, err)
		}
	})
}

// FuzzValidateClusterID: a valid ID is a part of an owner's key, whatever the
// others are.
func FuzzValidateClusterID(f *testing.F) {
	for _, s := range []string{"a", "prod-eu_1", "a/b", "a\n", "é", "cluster", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if ownership.ValidateClusterID(id) != nil {
			return
		}
		want := ownership.Owner{Cluster: id, Namespace: "shop", Name: "web"}
		if got, err := ownership.ParseOwner(want.String()); err != nil || got != want {
			t.Fatalf("cluster ID %q makes %q, %v", id, got, err)
		}
		if strings.ContainsAny(id, "/ \n#") || len(id) > 100 {
			t.Fatalf("%q is a cluster ID", id)
		}
	})
}
