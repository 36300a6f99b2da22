package managed

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// useAnnotation is the port of backends that are actions of the AWS Load
// Balancer Controller, such as a redirect, and no Services.
const useAnnotation = "use-annotation"

// backend is a Service port that an Ingress routes to.
type backend struct {
	service string
	port    intstr.IntOrString
}

func (b backend) action() bool   { return b.port.String() == useAnnotation }
func (b backend) String() string { return b.service + ":" + b.port.String() }

// OfIngress returns what an Ingress asks for, given its class, nil if there is
// no such object, and those of the Services it names that are there.
func OfIngress(i *networkingv1.Ingress, class *networkingv1.IngressClass, services map[string]*corev1.Service) Request {
	var r Request
	text := groupsText(i)
	if text == "" || !i.DeletionTimestamp.IsZero() {
		return r
	}
	on, problem := switched(i, IngressSharedAnnotation)
	if on && !classed(&r, i, class) {
		return r
	}
	lines := r.begin(on, problem, text)
	backends := resolved(backendsOf(i), services)
	for _, l := range lines {
		b, ok := choose(&r, l, backends, services)
		if !ok {
			continue
		}
		service := services[b.service]
		if service == nil {
			r.unsure(ReasonServiceNotFound, "there is no Service %s", b.service)
			continue
		}
		port, ok := portOf(service, b.port)
		if !ok {
			r.unsure(ReasonPortNotFound, "Service %s has no port %s; it has %s", b.service, b.port.String(), portsOf(service))
		} else if boundable(&r, service) {
			r.add(l, b.service, port)
		}
	}
	return r
}

// backendsOf lists the Service ports of an Ingress in their order, each once.
// Resource backends have none.
func backendsOf(i *networkingv1.Ingress) []backend {
	var list []backend
	add := func(b *networkingv1.IngressBackend) {
		if b == nil || b.Service == nil {
			return
		}
		port := intstr.FromInt32(b.Service.Port.Number)
		if b.Service.Port.Name != "" {
			port = intstr.FromString(b.Service.Port.Name)
		}
		if found := (backend{b.Service.Name, port}); !slices.Contains(list, found) {
			list = append(list, found)
		}
	}
	add(i.Spec.DefaultBackend)
	for _, rule := range i.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for p := range rule.HTTP.Paths {
			add(&rule.HTTP.Paths[p].Backend)
		}
	}
	return list
}

// resolved makes one of backends that name one port by name and by number.
func resolved(backends []backend, services map[string]*corev1.Service) []backend {
	var list []backend
	for _, b := range backends {
		if s := services[b.service]; s != nil {
			b.port, _ = portOf(s, b.port)
		}
		if !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	return list
}

// choose finds the backend that a line means.
func choose(r *Request, l line, backends []backend, services map[string]*corev1.Service) (backend, bool) {
	name, port, withPort := strings.Cut(l.key, ":")
	wanted := backend{name, portKey(port)}
	if s := services[name]; s != nil {
		wanted.port, _ = portOf(s, wanted.port)
	}
	var found []backend
	for _, b := range backends {
		switch {
		case l.key == "":
			if !b.action() {
				found = append(found, b)
			}
		case withPort && b == wanted, !withPort && b.service == name:
			found = append(found, b)
		}
	}
	switch {
	case len(found) == 0:
		r.unsure(ReasonBackendNotFound, "%s: the Ingress has no backend %s; it has %s", TargetGroupsAnnotation, cmp.Or(l.key, "that is a Service"), names(backends))
	case len(found) > 1:
		r.unsure(ReasonAmbiguous, "%s: name the backend of each group, as in '%s: my-group'; the backends are: %s", TargetGroupsAnnotation, found[0], names(backends))
	case found[0].action():
		r.unsure(ReasonActionBackend, "%s: backend %s is an action of the AWS Load Balancer Controller and has no endpoints; name the Services that it forwards to as backends of a path, or remove the line", TargetGroupsAnnotation, found[0])
	default:
		return found[0], true
	}
	return backend{}, false
}

func names(backends []backend) string {
	var list []string
	for _, b := range backends {
		list = append(list, b.String())
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
