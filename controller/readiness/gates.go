package readiness

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"target-ownership-controller/controller/api/v1beta1"
)

// Gates are the conditions that a new Pod with these labels should wait for:
// those of the bindings of its namespace whose Service selects it. They are
// sorted, each once.
//
// A binding of nodes has none, since its load balancer knows no Pods. One that
// does not say what it registers counts as one of Pods: should it turn out to
// be one of nodes, the controller sets the condition at once, while a Pod that
// went without cannot be given it later.
func Gates(pod map[string]string, bindings []Binding, services []corev1.Service) []corev1.PodConditionType {
	var gates []corev1.PodConditionType
	for _, b := range bindings {
		i := slices.IndexFunc(services, func(s corev1.Service) bool {
			return s.Namespace == b.Namespace && s.Name == b.Spec.ServiceRef.Name
		})
		if b.DeletionTimestamp.IsZero() && !b.ofNodes() && i >= 0 && selects(&services[i], pod) {
			gates = append(gates, Gate(b.Kind, b.Name))
		}
	}
	slices.Sort(gates)
	return slices.Compact(gates)
}

func (b Binding) ofNodes() bool {
	return b.Spec.TargetType != nil && *b.Spec.TargetType == v1beta1.TargetTypeInstance
}

// selects reports whether a Service selects a Pod. One without a selector
// selects none: its endpoints are somebody else's work.
func selects(service *corev1.Service, pod map[string]string) bool {
	selector := service.Spec.Selector
	return len(selector) > 0 && service.Spec.Type != corev1.ServiceTypeExternalName && labels.SelectorFromSet(selector).Matches(labels.Set(pod))
}

func isPort(p corev1.ServicePort, key string) bool { return p.Name == key || fmt.Sprint(p.Port) == key }
