package allow

import (
	"strings"
	"testing"

	"target-ownership-controller/ownership"
)

const (
	web   = ownership.GroupARN("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/shop-web/73e2d6bc24d8a067")
	stock = ownership.GroupARN("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/stock/73e2d6bc24d8a068")
	role  = "arn:aws:iam::210987654321:role/targets"
)

func TestAllows(t *testing.T) {
	rules, err := Parse([]byte(`
- namespaces: [shop, shop-*]
  targetGroups: ["arn:aws:elasticloadbalancing:*:123456789012:targetgroup/shop-*"]
- namespaces: [edge]
  targetGroups: ["*"]
  roles: ["arn:aws:iam::210987654321:role/*"]
- namespaces: ["team-?"]
  targetGroups: ["` + string(stock) + `"]
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		namespace string
		group     ownership.GroupARN
		role      string
		want      bool
	}{
		{"shop", web, "", true},
		{"shop-eu", web, "", true},
		{"shop", stock, "", false},
		{"shopping", web, "", false},
		{"my-shop", web, "", false},
		{"stock", web, "", false},
		{"shop", web, role, false}, // no rule of it has a role
		{"edge", stock, "", true},
		{"edge", stock, role, true},
		{"edge", stock, "arn:aws:iam::333333333333:role/targets", false},
		{"team-a", stock, "", true},
		{"team-", stock, "", false},
		{"team-ab", stock, "", false},
		{"team-a", stock + "0", "", false},
		{"team-a", "x" + stock, "", false},
		{"", "", "", false},
	} {
		if got := rules.Allows(c.namespace, c.group, c.role); got != c.want {
			t.Errorf("%s, %s, %q: %v, want %v", c.namespace, c.group, c.role, got, c.want)
		}
	}
}

// What means something in regular expressions means itself here.
func TestPatternsAreNoRegularExpressions(t *testing.T) {
	rules, err := Parse([]byte(`[{namespaces: ["*"], targetGroups: ["arn:a.c", "arn:(x|y)", "arn:[0-9]"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	for group, want := range map[ownership.GroupARN]bool{"arn:a.c": true, "arn:abc": false, "arn:x": false, "arn:(x|y)": true, "arn:5": false} {
		if got := rules.Allows("a", group, ""); got != want {
			t.Errorf("%s: %v, want %v", group, got, want)
		}
	}
}

func TestAnEmptyListAllowsNothing(t *testing.T) {
	rules, err := Parse([]byte("[]"))
	if err != nil || rules.Allows("shop", web, "") {
		t.Errorf("%v, %v", rules, err)
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for content, want := range map[string]string{
		"":                     "write [] to allow nothing",
		" \n":                  "write [] to allow nothing",
		"# no":                 "",
		"{}":                   "not a list of rules",
		"text":                 "not a list of rules",
		"- a":                  "not a list of rules",
		"[{namespaces: [shop]": "not a list of rules",
		"[{namespaces: [shop], targetGroup: ['*']}]":                   "targetGroup",
		"[{namespaces: [shop], targetGroups: ['*'], tags: {team: a}}]": "tags",
		"[{namespaces: [shop], namespaces: [a], targetGroups: ['*']}]": "namespaces",
		"[{}]":                    "rule 1: namespaces is missing",
		"[{namespaces: [shop]}]":  "rule 1: targetGroups is missing",
		"[{targetGroups: ['*']}]": "rule 1: namespaces is missing",
		"[{namespaces: [], targetGroups: ['*']}]":                        "rule 1: namespaces is missing",
		"[{namespaces: shop, targetGroups: ['*']}]":                      "not a list of rules",
		"[{namespaces: [''], targetGroups: ['*']}]":                      `namespaces: ""`,
		"[{namespaces: [Shop], targetGroups: ['*']}]":                    `namespaces: "Shop"`,
		"[{namespaces: [shop/web], targetGroups: ['*']}]":                `namespaces: "shop/web"`,
		"[{namespaces: [shop], targetGroups: [web]}]":                    `targetGroups: "web" is no ARN`,
		"[{namespaces: [shop], targetGroups: ['']}]":                     `targetGroups: "" is no ARN`,
		"[{namespaces: [shop], targetGroups: ['*web*']}]":                `targetGroups: "*web*" is no ARN`,
		"[{namespaces: [shop], targetGroups: ['*'], roles: [targets]}]":  `roles: "targets" is no ARN`,
		"[{namespaces: [shop], targetGroups: ['*']}, {namespaces: [a]}]": "rule 2: targetGroups is missing",
		"[{namespaces: [shop], targetGroups: [[a]]}]":                    "not a list of rules",
		"[{namespaces: [1.5], targetGroups: ['*']}]":                     "not a list of rules",
	} {
		rules, err := Parse([]byte(content))
		if want == "" {
			if err == nil && len(rules) > 0 {
				t.Errorf("%q: %v", content, rules)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || rules != nil {
			t.Errorf("%q: %v, %v, want %s", content, rules, err, want)
		}
	}
}

// FuzzParse: whatever a file has, it is refused or can be asked, and what it
// allows is named by a rule.
func FuzzParse(f *testing.F) {
	f.Add([]byte("[{namespaces: [shop], targetGroups: ['arn:*']}]"), "shop", string(web))
	f.Add([]byte("- {namespaces: ['*'], targetGroups: ['*'], roles: ['arn:?']}"), "a", "")
	f.Fuzz(func(t *testing.T, content []byte, namespace, group string) {
		rules, err := Parse(content)
		if err != nil && rules != nil {
			t.Error("rules beside an error")
		}
		if rules.Allows(namespace, ownership.GroupARN(group), "") && len(rules) == 0 {
			t.Error("allowed by no rule")
		}
	})
}
