package readiness

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
)

// What the types of the conditions begin with, each followed by a slash.
const (
	// prefix is what the AWS Load Balancer Controller has, for the kind of
	// bindings that it has too: the name of the binding follows.
	prefix = "target-health.elbv2.k8s.aws/"
	// sharedPrefix is for the kind that works beside that controller: a binding
	// of one kind may have the name of one of the other.
	sharedPrefix = "target-health.ownership.elbv2.k8s.aws/"
	// legacyPrefix is of version 1 of that controller, which had no bindings:
	// ingress, service and port of the backend follow, with underscores between
	// (https://kubernetes-sigs.github.io/aws-load-balancer-controller/v1.1/guide/ingress/pod-conditions/).
	legacyPrefix = "target-health.alb.ingress.k8s.aws/"
)

// The length of what may follow a prefix in the type of a condition
// (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set),
// and of the hash in a name that would be longer.
const (
	maxName    = 63
	hashLength = 10
)

// Binding is a binding and its kind.
type Binding struct {
	Kind kind.Kind
	*v1beta1.TargetGroupBinding
}

// Gate is the type of the condition that tells of the targets of a binding.
func Gate(k kind.Kind, name string) corev1.PodConditionType {
	if k.Shared {
		return corev1.PodConditionType(sharedPrefix + short(name))
	}
	return corev1.PodConditionType(prefix + short(name))
}

// short is a name that fits. Pods with a longer one would be refused.
func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:maxName-hashLength-1], "-.") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// IsGate reports whether a condition tells of the health of a target, whoever
// sets it.
func IsGate(t corev1.PodConditionType) bool {
	return slices.ContainsFunc([]string{prefix, sharedPrefix, legacyPrefix}, func(p string) bool { return strings.HasPrefix(string(t), p) })
}

// Has reports whether a condition tells of the targets of the binding, under
// the name of its own or a legacy one. The Service of the binding, nil if it is
// not known, tells a port by name from the same port by number.
func (b Binding) Has(t corev1.PodConditionType, service *corev1.Service) bool {
	if t == Gate(b.Kind, b.Name) {
		return true
	}
	ingress, serviceName, port, ok := legacy(t)
	return ok && serviceName == b.Spec.ServiceRef.Name && b.madeFor(ingress) && samePort(port, b.Spec.ServiceRef.Port.String(), service)
}

// legacy takes a legacy type apart: no name in it has an underscore.
func legacy(t corev1.PodConditionType) (ingress, service, port string, ok bool) {
	name, ok := strings.CutPrefix(string(t), legacyPrefix)
	parts := strings.Split(name, "_")
	if !ok || len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// The labels that the AWS Load Balancer Controller puts on a binding that it
// made for an Ingress which shares its load balancer with no other.
const (
	stackNamespace = "ingress.k8s.aws/stack-namespace"
	stackName      = "ingress.k8s.aws/stack-name"
)

// madeFor reports whether the binding was made for an Ingress: by this
// controller, from its annotations, or by the other one.
func (b Binding) madeFor(ingress string) bool {
	for _, owner := range b.OwnerReferences {
		if group, _, _ := strings.Cut(owner.APIVersion, "/"); group == "networking.k8s.io" && owner.Kind == "Ingress" && owner.Name == ingress {
			return true
		}
	}
	return b.Labels[stackNamespace] == b.Namespace && b.Labels[stackName] == ingress
}

func samePort(a, b string, service *corev1.Service) bool {
	if a == b {
		return true
	}
	if service == nil {
		return false
	}
	return slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return isPort(p, a) && isPort(p, b) })
}
