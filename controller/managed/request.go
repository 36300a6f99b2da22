package managed

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Request is what the annotations of a Service or an Ingress ask for.
type Request struct {
	Bindings []Wanted
	Problems []Problem
	// Unsure says that some of it could not be understood, so that a binding
	// that is not among Bindings may be wanted all the same.
	Unsure bool
}

// Problem becomes an event on the Service or Ingress.
type Problem struct {
	Reason  Reason
	Message string
	Binding string // the name of the one that it is about, if any
}

// Wanted is a binding of a Service port to a target group.
type Wanted struct {
	Service string
	Port    intstr.IntOrString
	named
}

// unsure notes a problem that leaves open what is wanted.
func (r *Request) unsure(reason Reason, format string, args ...any) {
	r.Unsure = true
	r.Problems = append(r.Problems, Problem{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// off notes why nothing is wanted.
func (r *Request) off(reason Reason, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Reason: reason, Message: fmt.Sprintf(format, args...)})
}

// add wants the groups for a port, which no earlier line may have named.
func (r *Request) add(l line, service string, port intstr.IntOrString) {
	if slices.ContainsFunc(r.Bindings, func(w Wanted) bool { return w.Service == service && w.Port == port }) {
		r.unsure(ReasonNamedTwice, "%s: %s is port %s of Service %s, which an earlier line names too; give several groups as a list, [a, b]",
			TargetGroupsAnnotation, l.key, port.String(), service)
		return
	}
	for _, group := range l.groups {
		r.Bindings = append(r.Bindings, Wanted{service, port, group})
	}
}

// begin reads the annotations that Services and Ingresses have in common. It
// returns no lines if there is nothing to do.
func (r *Request) begin(on bool, problem *Problem, text string) []line {
	if problem != nil {
		r.Problems = append(r.Problems, *problem)
		r.Unsure = problem.Reason == ReasonInvalidAnnotation
	}
	if !on {
		return nil
	}
	lines, errs := parse(text)
	for _, err := range errs {
		r.unsure(ReasonInvalidAnnotation, "%s: %v", TargetGroupsAnnotation, err)
	}
	return lines
}

// Length of a DNS label, and of the hash at the end of a name.
const (
	labelLength = 63
	hashLength  = 10
)

// Name is the name of the binding. It begins with what people look for, and
// ends with a hash of what cannot change in a binding.
func (w Wanted) Name() string {
	targetType := ""
	if w.TargetType != nil {
		targetType = string(*w.TargetType)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{w.Service, w.Port.String(), w.Group, targetType}, "\x00")))
	readable := strings.ReplaceAll(w.Service+"-"+w.Port.String(), ".", "-")
	readable = readable[:min(len(readable), labelLength-hashLength-1)]
	return strings.TrimRight(readable, "-") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// portKey reads a port as people write it: digits are a number, unless they
// begin with 0.
func portKey(key string) intstr.IntOrString {
	if port := intstr.Parse(key); port.String() == key {
		return port
	}
	return intstr.FromString(key)
}

// portOf finds a port by name or number. The answer is its name, or its number
// if it has none, or if two ports of that number differ in protocol.
func portOf(s *corev1.Service, key intstr.IntOrString) (intstr.IntOrString, bool) {
	var found []corev1.ServicePort
	for _, p := range s.Spec.Ports {
		if key.Type == intstr.String && p.Name == key.StrVal || key.Type == intstr.Int && p.Port == key.IntVal {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0:
		return key, false
	case len(found) == 1:
		return canonical(found[0]), true
	default:
		return key, true
	}
}

func canonical(p corev1.ServicePort) intstr.IntOrString {
	if p.Name != "" {
		return intstr.FromString(p.Name)
	}
	return intstr.FromInt32(p.Port)
}

// portsOf lists the ports of a Service for people.
func portsOf(s *corev1.Service) string {
	var list []string
	for _, p := range s.Spec.Ports {
		text := fmt.Sprint(p.Port)
		if p.Name != "" {
			text = fmt.Sprintf("%s (%d)", p.Name, p.Port)
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// boundable says why a Service has nothing that could be registered.
func boundable(r *Request, s *corev1.Service) bool {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		r.unsure(ReasonNoEndpoints, "Service %s is of type ExternalName, which has no endpoints to register", s.Name)
		return false
	}
	return true
}
