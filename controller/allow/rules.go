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
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"target-ownership-controller/ownership"
)

// Rules allow what any one of them allows, and nothing else.
type Rules []Rule

// Rule lets some namespaces bind some target groups: those of one of the ARNs
// that have all the tags; one of both may be left out. Everything in it but the
// keys of tags is a pattern: * stands for any characters, a slash included, and ? for one, as in
// policies of IAM
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html).
type Rule struct {
	Namespaces   []Pattern          `json:"namespaces"`
	TargetGroups []Pattern          `json:"targetGroups,omitempty"` // ARNs
	Tags         map[string]Pattern `json:"tags,omitempty"`
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
	case r.TargetGroups != nil && len(r.TargetGroups) == 0:
		return errors.New(`targetGroups is empty; name a pattern, or leave targetGroups out where tags say which`)
	case r.Tags != nil && len(r.Tags) == 0:
		return errors.New("tags is empty; name a tag, or leave tags out")
	case len(r.TargetGroups) == 0 && len(r.Tags) == 0:
		return errors.New(`targetGroups and tags are missing; targetGroups: ["*"] is every target group`)
	}
	for _, p := range r.Namespaces {
		if !namespace.MatchString(p.text) {
			return fmt.Errorf("namespaces: %q is no name of a namespace, nor a pattern of such names", p.text)
		}
	}
	return errors.Join(ofARNs("targetGroups", r.TargetGroups), ofARNs("roles", r.Roles), ofTags(r.Tags))
}

var namespace = regexp.MustCompile(`^[a-z0-9*?-]{1,63}$`)

// What AWS allows in tags
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_Tag.html).
const (
	maxKey   = 128
	maxValue = 256
)

var tagKey = regexp.MustCompile(`^[\p{L}\p{Z}\p{N}_.:/=+@-]+$`)

func ofTags(tags map[string]Pattern) error {
	for key, value := range tags {
		switch {
		case key == "":
			return errors.New("tags: a key is empty")
		case strings.ContainsAny(key, "*?"):
			return fmt.Errorf("tags: the key %q has a wildcard; only values may have some", key)
		case utf8.RuneCountInString(key) > maxKey:
			return fmt.Errorf("tags: a key has %d characters, and can have %d", utf8.RuneCountInString(key), maxKey)
		case !tagKey.MatchString(key):
			return fmt.Errorf("tags: %q is no key of a tag", key)
		case value.whole == nil:
			return fmt.Errorf(`tags: the value of %s is missing; "*" is every value`, key)
		case utf8.RuneCountInString(value.text) > maxValue:
			return fmt.Errorf("tags: the value of %s has %d characters, and can have %d", key, utf8.RuneCountInString(value.text), maxValue)
		}
	}
	return nil
}

func ofARNs(field string, patterns []Pattern) error {
	for _, p := range patterns {
		if p.text != "*" && !strings.HasPrefix(p.text, "arn:") {
			return fmt.Errorf("%s: %q is no ARN, nor a pattern of ARNs; it has to begin with arn:, or be *", field, p.text)
		}
	}
	return nil
}

// Tags reads the tags of a group.
type Tags func() (map[string]string, error)

// Allows reports whether bindings of a namespace may bind a group, with the role
// of that ARN, or with none. Tags are read if they decide. An error says that
// they could not be read, so that this is unknown.
func (rules Rules) Allows(namespace string, group ownership.GroupARN, role string, tags Tags) (bool, error) {
	byTags := Rules{}
	for _, r := range rules {
		switch {
		case !r.about(namespace, group, role):
		case len(r.Tags) == 0:
			return true, nil
		default:
			byTags = append(byTags, r)
		}
	}
	if len(byTags) == 0 {
		return false, nil
	}
	found, err := tags()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(byTags, func(r Rule) bool { return r.tagged(found) }), nil
}

// about is all that a rule asks for but tags.
func (r Rule) about(namespace string, group ownership.GroupARN, role string) bool {
	return some(r.Namespaces, namespace) &&
		(len(r.TargetGroups) == 0 || some(r.TargetGroups, string(group))) &&
		(role == "" || some(r.Roles, role))
}

func (r Rule) tagged(tags map[string]string) bool {
	for key, want := range r.Tags {
		value, ok := tags[key]
		if !ok || !want.whole.MatchString(value) {
			return false
		}
	}
	return true
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
