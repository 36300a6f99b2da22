package ownership_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func TestNewTarget(t *testing.T) {
	for _, c := range []struct {
		id   string
		port int
		want ownership.Target
	}{
		{"10.0.0.5", 8080, "10.0.0.5:8080"},
		{"10.0.0.5", 1, "10.0.0.5:1"},
		{"10.0.0.5", 65535, "10.0.0.5:65535"},
		{"::ffff:10.0.0.5", 80, "10.0.0.5:80"},
		{"2001:db8::5", 8080, "[2001:db8::5]:8080"},
		{"2001:0DB8:0:0::0005", 8080, "[2001:db8::5]:8080"},
		{"i-0abc123def4567890", 30080, "i-0abc123def4567890:30080"},
		{"10.0.0.5", 0, ""},
		{"10.0.0.5", 65536, ""},
		{"10.0.0.5", -1, ""},
		{"10.0.0.05", 80, ""},
		{"10.0.0", 80, ""},
		{"fe80::1%eth0", 80, ""},
		{"[2001:db8::5]", 80, ""},
		{"i-", 80, ""},
		{"i-XYZ", 80, ""},
		{"web", 80, ""},
		{"", 80, ""},
	} {
		got, err := ownership.NewTarget(c.id, c.port)
		g := NewWithT(t)
		g.Expect(got).To(Equal(c.want), c.id)
		g.Expect(err != nil).To(Equal(c.want == ""), c.id)
	}
}

func TestParseTargetTakesTheCanonicalFormOnly(t *testing.T) {
	g := NewWithT(t)
	for s, id := range map[string]string{
		"10.0.0.5:8080":      "10.0.0.5",
		"[2001:db8::5]:8080": "2001:db8::5",
		"i-0abc:8080":        "i-0abc",
	} {
		target, err := ownership.ParseTarget(s)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(target.ID()).To(Equal(id))
		g.Expect(target.Port()).To(Equal(8080))
	}
	for _, s := range []string{
		"", ":", "10.0.0.5", "10.0.0.5:", "10.0.0.5:080", "10.0.0.5:+80", "10.0.0.5:http", "10.0.0.5:70000", " 10.0.0.5:80",
		"[10.0.0.5]:80", "2001:db8::5:80", "[2001:0db8::5]:80", "[2001:DB8::5]:80", "[::ffff:10.0.0.5]:80", "[fe80::1%0]:80",
		"[i-0abc]:80", "i-0abc", "i-0ABC:80", "[[2001:db8::5]]:80",
	} {
		_, err := ownership.ParseTarget(s)
		g.Expect(err).To(HaveOccurred(), s)
	}
	_, err := ownership.ParseTarget("[2001:0db8::5]:80")
	g.Expect(err).To(MatchError(`target "[2001:0db8::5]:80": the canonical form is "[2001:db8::5]:80"`))
}

func FuzzParseTarget(f *testing.F) {
	for _, s := range []string{"10.0.0.5:8080", "[2001:db8::5]:8080", "i-0abc:30080", "[::ffff:10.0.0.5]:80", "10.0.0.5:080", "[fe80::1%eth0]:1", "::1:80", "]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ownership.ParseTarget(s)
		if err != nil {
			if target != "" {
				t.Fatalf("%q: both %q and %v", s, target, err)
			}
			return
		}
		if string(target) != s {
			t.Fatalf("%q became %q: two forms of one target", s, target)
		}
		again, err := ownership.NewTarget(target.ID(), target.Port())
		if err != nil || again != target {
			t.Fatalf("%q is made of %q and %d, which make %q, %v", s, target.ID(), target.Port(), again, err)
		}
		if strings.ContainsAny(s, "%/ \n") {
			t.Fatalf("%q is a target", s)
		}
	})
}

// Of two subnets with 200 targets each, neither has much more than half among
// the first in this order, however many these are; the order of what is passed
// does not matter.
func TestSpreadFavoursNoSubnet(t *testing.T) {
	var all []ownership.Target
	for _, subnet := range []string{"10.0.1", "10.0.2"} {
		for host := range 200 {
			all = append(all, ownership.Target(fmt.Sprintf("%s.%d:8080", subnet, host+1)))
		}
	}
	shuffled := slices.Clone(all)
	slices.Reverse(shuffled)
	slices.SortFunc(all, ownership.Spread)
	slices.SortFunc(shuffled, ownership.Spread)
	if !slices.Equal(all, shuffled) {
		t.Error("the order depends on what came in first")
	}
	for _, n := range []int{20, 50, 100, 200, 300} {
		first := 0
		for _, target := range all[:n] {
			if strings.HasPrefix(string(target), "10.0.1.") {
				first++
			}
		}
		if first < n/4 || first > 3*n/4 {
			t.Errorf("of the first %d, %d are of one subnet", n, first)
		}
	}
	if ownership.Spread("10.0.0.1:80", "10.0.0.1:80") != 0 {
		t.Error("a target differs from itself")
	}
}
