// Package allow has the rules of an administrator that say which namespaces may
// bind which target groups: docs/security.md says how they are written.
package allow

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"target-ownership-controller/ownership"
)

// Rules allow what any one of them allows, and nothing else.
type Rules []Rule

// Rule lets some namespaces bind some target groups. Everything in it is a
// pattern: * stands for any characters, a slash included, and ? for one, as in
// policies of IAM
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html).
type Rule struct {
	Namespaces   []Pattern `json:"namespaces"`
	TargetGroups []Pattern `json:"targetGroups"` // ARNs
	// Roles are the ARNs of roles that their bindings may have assumed. Bindings
	// that name none need none.
	Roles []Pattern `json:"roles,omitempty"`
}

// Parse reads the rules from YAML: a list, which may be empty and then allows
// nothing. Its error names the rule and what is wrong with it.
func Parse(content []byte) (Rules, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, errors.New("there are no rules; write [] to allow nothing")
	}
	rules := Rules{}
	if err := yaml.UnmarshalStrict(content, &rules); err != nil {
		return nil, fmt.Errorf("not a list of rules: %w", err)
	}
	for i, rule := range rules {
		if err := rule.validate(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return rules, nil
}

func (r Rule) validate() error {
	switch {
	case len(r.Namespaces) == 0:
		return errors.New(`namespaces is missing; "*" is every namespace`)
	case len(r.TargetGroups) == 0:
		return errors.New(`targetGroups is missing; "*" is every target group`)
	}
	for _, p := range r.Namespaces {
		if !namespace.MatchString(p.text) {
			return fmt.Errorf("namespaces: %q is no name of a namespace, nor a pattern of such names", p.text)
		}
	}
	return errors.Join(ofARNs("targetGroups", r.TargetGroups), ofARNs("roles", r.Roles))
}

var namespace = regexp.MustCompile(`^[a-z0-9*?-]{1,63}$`)

func ofARNs(field string, patterns []Pattern) error {
	for _, p := range patterns {
		if p.text != "*" && !strings.HasPrefix(p.text, "arn:") {
			return fmt.Errorf("%s: %q is no ARN, nor a pattern of ARNs; it has to begin with arn:, or be *", field, p.text)
		}
	}
	return nil
}

// Allows reports whether bindings of a namespace may bind a group, with the role
// of that ARN, or with none.
func (rules Rules) Allows(namespace string, group ownership.GroupARN, role string) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		return some(r.Namespaces, namespace) && some(r.TargetGroups, string(group)) && (role == "" || some(r.Roles, role))
	})
}

func some(patterns []Pattern, s string) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.whole.MatchString(s) })
}

// Pattern is a text with wildcards.
type Pattern struct {
	text  string
	whole *regexp.Regexp
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Pattern) UnmarshalText(text []byte) error {
	p.text = string(text)
	quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(p.text))
	var err error
	p.whole, err = regexp.Compile(`^(?s:` + quoted + `)$`)
	return err
}
