package managed

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// OfService returns what a Service asks for. Its type and its load balancer
// class do not matter: who makes load balancers for it is another question.
func OfService(s *corev1.Service) Request {
	var r Request
	text := groupsText(s)
	if text == "" || !s.DeletionTimestamp.IsZero() {
		return r
	}
	on, problem := switched(s, ServiceSharedAnnotation)
	lines := r.begin(on, problem, text)
	if len(lines) == 0 || !boundable(&r, s) {
		return r
	}
	for _, l := range lines {
		if port, ok := servicePort(&r, s, l); ok {
			r.add(l, s.Name, port)
		}
	}
	return r
}

func servicePort(r *Request, s *corev1.Service, l line) (intstr.IntOrString, bool) {
	if l.key != "" {
		port, ok := portOf(s, portKey(l.key))
		if !ok {
			r.unsure(ReasonPortNotFound, "%s: the Service has no port %s; it has %s", TargetGroupsAnnotation, l.key, portsOf(s))
		}
		return port, ok
	}
	if len(s.Spec.Ports) != 1 {
		r.unsure(ReasonAmbiguous, "%s: name the port of each group, as in 'http: my-group'; the ports are: %s", TargetGroupsAnnotation, portsOf(s))
		return intstr.IntOrString{}, false
	}
	return canonical(s.Spec.Ports[0]), true
}
