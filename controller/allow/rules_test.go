package allow

import (
	"errors"
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
		// Rules without tags ask for none.
		if got, err := rules.Allows(c.namespace, c.group, c.role, nil); got != c.want || err != nil {
			t.Errorf("%s, %s, %q: %v, %v, want %v", c.namespace, c.group, c.role, got, err, c.want)
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
		if got, err := rules.Allows("a", group, "", nil); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", group, got, err, want)
		}
	}
}

func TestAnEmptyListAllowsNothing(t *testing.T) {
	rules, err := Parse([]byte("[]"))
	if err != nil {
		t.Fatal(err)
	}
	if allowed, err := rules.Allows("shop", web, "", nil); allowed || err != nil {
		t.Errorf("%v, %v", allowed, err)
	}
}

func TestRulesOfTags(t *testing.T) {
	rules, err := Parse([]byte(`
- namespaces: [shop]
  tags: {team: shop, stage: "p*"}
- namespaces: [shop, plain]
  targetGroups: ["` + string(web) + `"]
- namespaces: [stock]
  targetGroups: ["` + string(stock) + `"]
  tags: {"aws:cloudformation:stack-name": "*"}
  roles: ["` + role + `"]
- namespaces: [bare]
  tags: {note: ""}
`))
	if err != nil {
		t.Fatal(err)
	}
	type tags = map[string]string
	for _, c := range []struct {
		namespace string
		group     ownership.GroupARN
		role      string
		tags      tags
		read      int
		want      bool
	}{
		{"shop", stock, "", tags{"team": "shop", "stage": "prod", "more": "x"}, 1, true},
		{"shop", stock, "", tags{"team": "shop"}, 1, false},
		{"shop", stock, "", tags{"team": "shop", "stage": "test"}, 1, false},
		{"shop", stock, "", tags{"team": "shopping", "stage": "prod"}, 1, false},
		{"shop", stock, "", tags{"Team": "shop", "stage": "prod"}, 1, false},
		{"shop", stock, "", nil, 1, false},
		{"shop", stock, role, tags{"team": "shop", "stage": "prod"}, 0, false},
		{"shop", web, "", nil, 0, true}, // by its ARN
		{"plain", stock, "", tags{"team": "shop", "stage": "prod"}, 0, false},
		{"stock", stock, role, tags{"aws:cloudformation:stack-name": "any"}, 1, true},
		{"stock", stock, role, tags{"aws:cloudformation:stack-name": ""}, 1, true},
		{"stock", stock, role, nil, 1, false},
		{"stock", web, role, tags{"aws:cloudformation:stack-name": "any"}, 0, false},
		{"bare", stock, "", tags{"note": ""}, 1, true},
		{"bare", stock, "", tags{"note": "x"}, 1, false},
		{"bare", stock, "", nil, 1, false},
		{"other", stock, "", tags{"team": "shop", "stage": "prod"}, 0, false},
	} {
		read := 0
		got, err := rules.Allows(c.namespace, c.group, c.role, func() (map[string]string, error) { read++; return c.tags, nil })
		if got != c.want || err != nil || read != c.read {
			t.Errorf("%s, %s, %q, %v: %v, %v, read %d times, want %v, read %d times", c.namespace, c.group, c.role, c.tags, got, err, read, c.want, c.read)
		}
	}
}

// Tags that cannot be read leave unknown what they decide, and nothing else.
func TestTagsThatCannotBeRead(t *testing.T) {
	rules, err := Parse([]byte(`[{namespaces: [shop, stock], tags: {team: "*"}}, {namespaces: [stock], targetGroups: ["*"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	denied := errors.New("denied")
	for namespace, want := range map[string]struct {
		allowed bool
		err     error
	}{"shop": {false, denied}, "stock": {true, nil}, "other": {false, nil}} {
		got, err := rules.Allows(namespace, web, "", func() (map[string]string, error) { return map[string]string{"team": "shop"}, denied })
		if got != want.allowed || !errors.Is(err, want.err) {
			t.Errorf("%s: %v, %v, want %v", namespace, got, err, want)
		}
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
		"[{namespaces: [shop], targetGroup: ['*']}]":                             "targetGroup",
		"[{namespaces: [shop], targetGroups: [], tags: {team: a}}]":              "rule 1: targetGroups is empty",
		"[{namespaces: [shop], tags: {}}]":                                       "rule 1: tags is empty",
		"[{namespaces: [shop], targetGroups: ['*'], tags: {}}]":                  "rule 1: tags is empty",
		"[{namespaces: [shop], tags: [team]}]":                                   "not a list of rules",
		"[{namespaces: [shop], tags: team=shop}]":                                "not a list of rules",
		"[{namespaces: [shop], tags: {team: [a]}}]":                              "not a list of rules",
		"[{namespaces: [shop], tags: {team: 5}}]":                                "not a list of rules",
		"[{namespaces: [shop], tags: {team: true}}]":                             "not a list of rules",
		"[{namespaces: [shop], tags: {team: }}]":                                 `the value of team is missing`,
		"[{namespaces: [shop], tags: {team: a, team: b}}]":                       "team",
		"[{namespaces: [shop], tags: {'': a}}]":                                  "tags: a key is empty",
		"[{namespaces: [shop], tags: {'te*': a}}]":                               `the key "te*" has a wildcard`,
		"[{namespaces: [shop], tags: {'te?m': a}}]":                              `the key "te?m" has a wildcard`,
		"[{namespaces: [shop], tags: {'team!': a}}]":                             `"team!" is no key of a tag`,
		"[{namespaces: [shop], tags: {" + strings.Repeat("ä", 129) + ": a}}]":    "a key has 129 characters",
		"[{namespaces: [shop], tags: {team: " + strings.Repeat("ä", 257) + "}}]": "the value of team has 257 characters",
		"[{namespaces: [shop], namespaces: [a], targetGroups: ['*']}]":           "namespaces",
		"[{}]":                    "rule 1: namespaces is missing",
		"[{namespaces: [shop]}]":  "rule 1: targetGroups and tags are missing",
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
		"[{namespaces: [shop], targetGroups: ['*']}, {namespaces: [a]}]": "rule 2: targetGroups and tags are missing",
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
	f.Add([]byte("[{namespaces: [shop], tags: {team: 'sh*'}}]"), "shop", "shop")
	f.Fuzz(func(t *testing.T, content []byte, namespace, group string) {
		rules, err := Parse(content)
		if err != nil && rules != nil {
			t.Error("rules beside an error")
		}
		allowed, err := rules.Allows(namespace, ownership.GroupARN(group), "", func() (map[string]string, error) { return map[string]string{"team": group}, nil })
		if err != nil || allowed && len(rules) == 0 {
			t.Error("allowed by no rule", err)
		}
	})
}
