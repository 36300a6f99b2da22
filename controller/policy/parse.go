package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// settings are the annotations of a binding. Each reads its value, and its
// error says what is allowed.
var settings = []struct {
	annotation string
	read       func(*Policy, string) error
}{
	{v1beta1.DeletionPolicyAnnotation, func(p *Policy, value string) error {
		return oneOf(&p.Deletion, value, v1beta1.DeletionPolicyDelete, v1beta1.DeletionPolicyRetain, v1beta1.DeletionPolicyHandOver)
	}},
	{v1beta1.HandOverToAnnotation, func(p *Policy, value string) error { return owner(&p.HandOverTo, value) }},
	{v1beta1.MaximumAnnotation, func(p *Policy, value string) error { return count(&p.Maximum, value) }},
	{v1beta1.ShareAnnotation, func(p *Policy, value string) error { return percentage(&p.Share, value) }},
	{v1beta1.OrderAnnotation, func(p *Policy, value string) error {
		return oneOf(&p.Order, value, v1beta1.OrderRegisterFirst, v1beta1.OrderReleaseFirst)
	}},
	{v1beta1.HoldServingAnnotation, func(p *Policy, value string) error { return duration(&p.HoldServing, value) }},
	{v1beta1.MinimumAnnotation, func(p *Policy, value string) error { return minimum(&p.Minimum, value) }},
	{v1beta1.NodesAnnotation, func(p *Policy, value string) error {
		return oneOf(&p.Nodes, value, v1beta1.NodesAll, v1beta1.NodesLocal)
	}},
}

// Parse reads the annotations of a binding. Its error has all that is wrong
// with them, misspelt names included, and what would be right.
func Parse(annotations map[string]string) (Policy, error) {
	p := Default()
	problems := unknown(annotations)
	for _, s := range settings {
		value, found := annotations[s.annotation]
		if !found {
			continue
		}
		if err := s.read(&p, value); err != nil {
			problems = append(problems, fmt.Sprintf("annotation %s is %q; it has to be %v", s.annotation, value, err))
		}
	}
	if len(problems) == 0 {
		problems = contradictions(annotations, p)
	}
	if len(problems) > 0 {
		return Policy{}, errors.New(strings.Join(problems, "; "))
	}
	return p, nil
}

// Changed reports whether any policy differs between two states of a binding.
func Changed(before, after map[string]string) bool {
	return !maps.Equal(Of(before), Of(after))
}

// Is reports whether an annotation is a policy, known or not.
func Is(name string) bool {
	return strings.HasPrefix(name, v1beta1.AnnotationPrefix) && name != v1beta1.TargetGroupsAnnotation
}

// Of are the annotations that are policies.
func Of(annotations map[string]string) map[string]string {
	policies := maps.Clone(annotations)
	maps.DeleteFunc(policies, func(name, _ string) bool { return !Is(name) })
	return policies
}

// unknown are annotations that begin as ours and are none. A misspelt policy
// would otherwise be one that is not there.
func unknown(annotations map[string]string) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(Of(annotations))) {
		if !slices.Contains(names(), name) {
			problems = append(problems, fmt.Sprintf("there is no annotation %s; the nearest is %s", name, nearest(name, names())))
		}
	}
	return problems
}

func names() []string {
	var list []string
	for _, s := range settings {
		list = append(list, s.annotation)
	}
	return list
}

// contradictions are between annotations that are right, each for itself.
func contradictions(annotations map[string]string, p Policy) []string {
	_, named := annotations[v1beta1.HandOverToAnnotation]
	_, chosen := annotations[v1beta1.DeletionPolicyAnnotation]
	switch {
	case p.Deletion == v1beta1.DeletionPolicyHandOver && !named:
		return []string{fmt.Sprintf("annotation %s is %q, and %s is missing; it has to be %s",
			v1beta1.DeletionPolicyAnnotation, p.Deletion, v1beta1.HandOverToAnnotation, ownerForm)}
	case named && !chosen: // the targets would leave
		return []string{fmt.Sprintf("annotation %s is there, and %s is missing; set that to %s, or to %s or %s to hand nothing over",
			v1beta1.HandOverToAnnotation, v1beta1.DeletionPolicyAnnotation, v1beta1.DeletionPolicyHandOver, v1beta1.DeletionPolicyDelete, v1beta1.DeletionPolicyRetain)}
	default:
		return nil
	}
}

func oneOf(field *string, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		last := len(allowed) - 1
		return errors.New(strings.Join(allowed[:last], ", ") + " or " + allowed[last])
	}
	*field = value
	return nil
}

const ownerForm = "an owner as targetctl owners prints it, CLUSTER/NAMESPACE/NAME, or CLUSTER/NAMESPACE/" + ownership.SharedPrefix + "NAME of a SharedTargetGroupBinding"

func owner(field *ownership.Owner, value string) error {
	o, err := ownership.ParseOwner(value)
	if err != nil || ownership.ValidateClusterID(o.Cluster) != nil || len(validation.IsDNS1123Label(o.Namespace)) > 0 {
		return errors.New(ownerForm)
	}
	if _, name := o.Object(); len(validation.IsDNS1123Subdomain(name)) > 0 {
		return errors.New(ownerForm)
	}
	*field = o
	return nil
}

func count(field *int, value string) error {
	n, ok := whole(value)
	if !ok || n < 1 {
		return errors.New(`a whole number from 1, such as "100"`)
	}
	*field = n
	return nil
}

func percentage(field *int, value string) error {
	digits, percent := strings.CutSuffix(value, "%")
	n, ok := whole(digits)
	if !ok || !percent || n > 100 {
		return errors.New(`a whole percentage from 0% to 100%, such as "20%"`)
	}
	*field = n
	return nil
}

// maxHold is more than any Pod that is shut down in good order takes.
const maxHold = time.Hour

func duration(field *time.Duration, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > maxHold {
		return errors.New("a duration above 0 and up to 1h, such as 20s")
	}
	*field = d
	return nil
}

func minimum(field *Minimum, value string) error {
	if strings.HasSuffix(value, "%") {
		if err := percentage(&field.Percent, value); err == nil && field.Percent > 0 {
			return nil
		}
	} else if err := count(&field.Targets, value); err == nil {
		return nil
	}
	return errors.New(`a whole number from 1, such as "2", or a whole percentage from 1% to 100%, such as "50%"`)
}

// whole reads digits only: no sign, no space.
func whole(digits string) (int, bool) {
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil
}
