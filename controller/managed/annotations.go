package managed

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
)

const (
	// TargetGroupsAnnotation names the target groups of a Service's ports or of
	// an Ingress's backends.
	TargetGroupsAnnotation = v1beta1.TargetGroupsAnnotation

	// ServiceSharedAnnotation is the switch of a Service, which the AWS Load
	// Balancer Controller has too.
	ServiceSharedAnnotation = "service.beta.kubernetes.io/aws-load-balancer-multi-cluster-target-group"

	// IngressSharedAnnotation is the switch of an Ingress.
	IngressSharedAnnotation = "alb.ingress.kubernetes.io/multi-cluster-target-group"

	// ManagedLabel marks the bindings that this package made.
	ManagedLabel = v1beta1.ManagedLabel
)

// groupsText is the annotation that names groups; empty means unset.
func groupsText(o client.Object) string {
	return strings.TrimSpace(o.GetAnnotations()[TargetGroupsAnnotation])
}

// switched reads the switch of an object that names groups.
func switched(o client.Object, key string) (bool, *Problem) {
	text := strings.TrimSpace(o.GetAnnotations()[key])
	on, err := strconv.ParseBool(text) // as the AWS Load Balancer Controller does
	switch {
	case text == "" || err == nil && !on:
		return false, &Problem{Reason: ReasonNotShared, Message: fmt.Sprintf(`%s is there, and %s is not "true": set it, or remove the first`, TargetGroupsAnnotation, key)}
	case err != nil:
		return false, &Problem{Reason: ReasonInvalidAnnotation, Message: fmt.Sprintf("%s: %q is not true or false", key, text)}
	}
	return true, nil
}
