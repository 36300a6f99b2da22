package policy

import (
	"strings"
	"testing"
	"time"

	"target-ownership-controller/ownership"
)

const prefix = "elbv2.k8s.aws/target-ownership-"

// annotations are pairs of the rest of a name and a value.
func annotations(pairs ...string) map[string]string {
	a := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		a[prefix+pairs[i]] = pairs[i+1]
	}
	return a
}

func TestParse(t *testing.T) {
	west := ownership.Owner{Cluster: "west", Namespace: "shop", Name: "web"}
	stgb := ownership.Owner{Cluster: "we_st.1", Namespace: "shop", Name: "stgb:web.v2"}
	for name, c := range map[string]struct {
		annotations map[string]string
		want        Policy
	}{
		"none":               {nil, Policy{Deletion: "Delete", Share: 100, Order: "RegisterFirst"}},
		"of others":          {map[string]string{"elbv2.k8s.aws/other": "x", "target-ownership-share": "x"}, Policy{Deletion: "Delete", Share: 100, Order: "RegisterFirst"}},
		"groups of the port": {annotations("target-groups", "web"), Policy{Deletion: "Delete", Share: 100, Order: "RegisterFirst"}},
		"defaults": {
			annotations("deletion-policy", "Delete", "share", "100%", "order", "RegisterFirst"),
			Policy{Deletion: "Delete", Share: 100, Order: "RegisterFirst"},
		},
		"retain": {annotations("deletion-policy", "Retain"), Policy{Deletion: "Retain", Share: 100, Order: "RegisterFirst"}},
		"hand over": {
			annotations("deletion-policy", "HandOver", "hand-over-to", "west/shop/web"),
			Policy{Deletion: "HandOver", HandOverTo: west, Share: 100, Order: "RegisterFirst"},
		},
		"to the other kind": {
			annotations("deletion-policy", "HandOver", "hand-over-to", "we_st.1/shop/stgb:web.v2"),
			Policy{Deletion: "HandOver", HandOverTo: stgb, Share: 100, Order: "RegisterFirst"},
		},
		"no hand-over any more": {
			annotations("deletion-policy", "Delete", "hand-over-to", "west/shop/web"),
			Policy{Deletion: "Delete", HandOverTo: west, Share: 100, Order: "RegisterFirst"},
		},
		"limits": {
			annotations("maximum", "1", "share", "0%", "order", "ReleaseFirst"),
			Policy{Deletion: "Delete", Maximum: 1, Share: 0, Order: "ReleaseFirst"},
		},
		"larger limits": {
			annotations("maximum", "3000", "share", "20%"),
			Policy{Deletion: "Delete", Maximum: 3000, Share: 20, Order: "RegisterFirst"},
		},
		"what stays": {
			annotations("hold-serving", "1m30s", "minimum", "2", "nodes", "Local"),
			Policy{Deletion: "Delete", Share: 100, Order: "RegisterFirst", HoldServing: 90 * time.Second, Minimum: Minimum{Targets: 2}, Nodes: "Local"},
		},
		"a part stays": {
			annotations("hold-serving", "1h", "minimum", "100%", "nodes", "All"),
			Policy{Deletion: "Delete", Share: 100, Order: "RegisterFirst", HoldServing: time.Hour, Minimum: Minimum{Percent: 100}, Nodes: "All"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(c.annotations)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, value, allowed string
	}{
		{"deletion-policy", "", "Delete, Retain or HandOver"},
		{"deletion-policy", "retain", "Delete, Retain or HandOver"},
		{"deletion-policy", "Release", "Delete, Retain or HandOver"},
		{"deletion-policy", "OnHold", "Delete, Retain or HandOver"},
		{"order", "registerFirst", "RegisterFirst or ReleaseFirst"},
		{"order", "", "RegisterFirst or ReleaseFirst"},
		{"maximum", "0", "a whole number from 1"},
		{"maximum", "-1", "a whole number from 1"},
		{"maximum", "+1", "a whole number from 1"},
		{"maximum", "1.5", "a whole number from 1"},
		{"maximum", " 1", "a whole number from 1"},
		{"maximum", "", "a whole number from 1"},
		{"maximum", "4294967297", "a whole number from 1"},
		{"hold-serving", "", "a duration above 0 and up to 1h"},
		{"hold-serving", "20", "a duration above 0 and up to 1h"},
		{"hold-serving", "0s", "a duration above 0 and up to 1h"},
		{"hold-serving", "-1s", "a duration above 0 and up to 1h"},
		{"hold-serving", "61m", "a duration above 0 and up to 1h"},
		{"minimum", "", "a whole number from 1"},
		{"minimum", "0", "a whole number from 1"},
		{"minimum", "0%", "a whole percentage from 1% to 100%"},
		{"minimum", "101%", "a whole percentage from 1% to 100%"},
		{"minimum", "half", "a whole percentage from 1% to 100%"},
		{"nodes", "local", "All or Local"},
		{"nodes", "", "All or Local"},
		{"share", "20", "a whole percentage from 0% to 100%"},
		{"share", "20.5%", "a whole percentage from 0% to 100%"},
		{"share", "101%", "a whole percentage from 0% to 100%"},
		{"share", "-1%", "a whole percentage from 0% to 100%"},
		{"share", "%", "a whole percentage from 0% to 100%"},
		{"share", "20%%", "a whole percentage from 0% to 100%"},
		{"share", "0.2", "a whole percentage from 0% to 100%"},
		{"hand-over-to", "", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "shop/web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "a/b/c/d", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop/", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "-west/shop/web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop.eu/web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop/Web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop/STGB:web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop/stgb:", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop/leftover:web", "CLUSTER/NAMESPACE/NAME"},
		{"hand-over-to", "west/shop/web ", "CLUSTER/NAMESPACE/NAME"},
	} {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			got, err := Parse(annotations(c.name, c.value))
			if err == nil || got != (Policy{}) {
				t.Fatalf("got %+v, %v", got, err)
			}
			for _, part := range []string{prefix + c.name, `"` + c.value + `"`, c.allowed} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %s", err, part)
				}
			}
		})
	}
}

func TestParseTellsAllThatIsWrong(t *testing.T) {
	_, err := Parse(annotations("share", "20", "maximum", "many", "maximun", "5", "order", "ReleaseFirst"))
	const want = "there is no annotation " + prefix + "maximun; the nearest is " + prefix + "maximum; " +
		"annotation " + prefix + `maximum is "many"; it has to be a whole number from 1, such as "100"; ` +
		"annotation " + prefix + `share is "20"; it has to be a whole percentage from 0% to 100%, such as "20%"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestParseHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"to nobody":          {annotations("deletion-policy", "HandOver"), prefix + "hand-over-to is missing; it has to be an owner"},
		"without the policy": {annotations("hand-over-to", "west/shop/web"), prefix + "deletion-policy is missing; set that to HandOver"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(c.annotations); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	for misspelt, want := range map[string]string{
		"deletion-polcy": "deletion-policy", "handover-to": "hand-over-to", "max": "maximum",
		"maximum-targets": "maximum", "Share": "share", "": "share",
	} {
		if got := nearest(prefix+misspelt, names()); got != prefix+want {
			t.Errorf("%s: got %s, want %s", misspelt, got, want)
		}
	}
}

func TestChanged(t *testing.T) {
	for name, c := range map[string]struct {
		before, after map[string]string
		want          bool
	}{
		"not":         {annotations("share", "20%"), annotations("share", "20%"), false},
		"another":     {annotations("share", "20%"), annotations("share", "30%"), true},
		"new":         {nil, annotations("maximum", "1"), true},
		"gone":        {annotations("maximum", "1"), nil, true},
		"misspelt":    {nil, annotations("maximun", "1"), true},
		"other ones":  {map[string]string{"note": "a"}, map[string]string{"note": "b"}, false},
		"of Services": {annotations("target-groups", "a"), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Changed(c.before, c.after); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestMinimum(t *testing.T) {
	for _, c := range []struct {
		minimum Minimum
		there   int
		want    int
	}{
		{Minimum{}, 10, 0},
		{Minimum{Targets: 2}, 10, 2},
		{Minimum{Targets: 2}, 0, 2},
		{Minimum{Percent: 50}, 10, 5},
		{Minimum{Percent: 50}, 5, 3},
		{Minimum{Percent: 1}, 1, 1},
		{Minimum{Percent: 1}, 0, 0},
		{Minimum{Percent: 100}, 7, 7},
	} {
		if got := c.minimum.Of(c.there); got != c.want {
			t.Errorf("%+v of %d is %d, want %d", c.minimum, c.there, got, c.want)
		}
	}
}
