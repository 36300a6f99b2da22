package managed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// named is a target group as the annotation names it.
type named struct {
	// Group is an ARN or a name.
	Group        string                `json:"group"`
	TargetType   *v1beta1.TargetType   `json:"targetType,omitempty"`
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`
}

// groupName is the name in the ARN, or the name.
func (n named) groupName() string {
	if n.byARN() {
		return ownership.GroupARN(n.Group).Name()
	}
	return n.Group
}

func (n named) byARN() bool { return strings.HasPrefix(n.Group, "arn:") }

// line is the groups of one port or backend; of the only one if key is empty.
type line struct {
	key    string
	groups []named
}

// parse reads the annotation. What it could read comes with the errors of the
// rest. All scalars are text as it stands there: a port that is called "on" is
// no boolean.
func parse(text string) ([]line, []error) {
	root, err := document(text)
	if err != nil {
		return nil, []error{err}
	}
	if root.Kind != yamlnode.MappingNode {
		groups, err := groupsOf(root)
		if err != nil {
			return nil, []error{err}
		}
		return []line{{groups: groups}}, nil
	}
	if len(root.Content) == 0 {
		return nil, []error{errors.New("names no target group")}
	}
	var lines []line
	var errs []error
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		groups, err := groupsOf(value)
		switch {
		case key.Kind != yamlnode.ScalarNode || key.Value == "":
			errs = append(errs, fmt.Errorf("line %d does not begin with a port", key.Line))
		case seen[key.Value]:
			errs = append(errs, fmt.Errorf("%s is there twice; give several groups as a list, [a, b]", key.Value))
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", key.Value, err))
		default:
			lines = append(lines, line{key.Value, groups})
		}
		seen[key.Value] = true
	}
	return lines, errs
}

// document is the one YAML document of the text.
func document(text string) (*yamlnode.Node, error) {
	decoder := yamlnode.NewDecoder(strings.NewReader(text))
	var root, more yamlnode.Node
	if err := decoder.Decode(&root); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document")
	}
	if root.Kind != yamlnode.DocumentNode || len(root.Content) != 1 {
		return nil, errors.New("names no target group")
	}
	if aliased(&root) {
		return nil, errors.New("YAML aliases are not supported; write the value out")
	}
	return root.Content[0], nil
}

func aliased(n *yamlnode.Node) bool {
	if n.Kind == yamlnode.AliasNode {
		return true
	}
	for _, c := range n.Content {
		if aliased(c) {
			return true
		}
	}
	return false
}

// groupsOf reads one group or a list of them.
func groupsOf(n *yamlnode.Node) ([]named, error) {
	nodes := []*yamlnode.Node{n}
	if n.Kind == yamlnode.SequenceNode {
		nodes = n.Content
	}
	if len(nodes) == 0 {
		return nil, errors.New("names no target group")
	}
	var groups []named
	seen := map[string]bool{}
	for _, n := range nodes {
		group, err := groupOf(n)
		if err != nil {
			return nil, err
		}
		if seen[group.groupName()] {
			return nil, fmt.Errorf("group %s is there twice", group.groupName())
		}
		seen[group.groupName()] = true
		groups = append(groups, group)
	}
	return groups, nil
}

func groupOf(n *yamlnode.Node) (named, error) {
	var group named
	switch n.Kind {
	case yamlnode.ScalarNode:
		group.Group = strings.TrimSpace(n.Value)
	case yamlnode.MappingNode:
		text := &bytes.Buffer{}
		encoder := yamlnode.NewEncoder(text)
		if err := errors.Join(encoder.Encode(n), encoder.Close()); err != nil {
			return named{}, err
		}
		if err := decode(text.Bytes(), &group); err != nil {
			return named{}, fmt.Errorf("takes group, targetType and nodeSelector: %w", err)
		}
	default:
		return named{}, errors.New("is neither a target group nor group, targetType and nodeSelector")
	}
	return group, group.check()
}

// decode refuses fields that there are not, also those that differ in case.
func decode(text []byte, into *named) error {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	strict, err := json.UnmarshalStrict(asJSON, into)
	return errors.Join(append(strict, err)...)
}

func (n named) check() error {
	if n.byARN() {
		if _, err := ownership.ParseGroupARN(n.Group); err != nil {
			return err
		}
	} else if !elb.IsGroupName(n.Group) {
		return fmt.Errorf("%q is neither the ARN nor the name of a target group", n.Group)
	}
	if t := n.TargetType; t != nil && *t != v1beta1.TargetTypeIP && *t != v1beta1.TargetTypeInstance {
		return fmt.Errorf("targetType: %q is not ip or instance", *t)
	}
	if n.NodeSelector == nil {
		return nil
	}
	if n.TargetType != nil && *n.TargetType == v1beta1.TargetTypeIP {
		return errors.New("nodeSelector chooses among nodes and needs targetType instance; remove it")
	}
	if _, err := metav1.LabelSelectorAsSelector(n.NodeSelector); err != nil {
		return fmt.Errorf("nodeSelector: %w", err)
	}
	return nil
}
