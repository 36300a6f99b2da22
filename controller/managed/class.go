package managed

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// classAnnotation is older than spec.ingressClassName, and counts more with the
// AWS Load Balancer Controller
// (https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/ingress_class/).
const (
	classAnnotation = "kubernetes.io/ingress.class"
	annotatedALB    = "alb"
)

// OwnClassController is the controller of classes whose Ingresses get bindings
// and, from nobody, a load balancer.
const OwnClassController = "elbv2.k8s.aws/target-ownership"

// classControllers are those whose Ingresses stand for target groups: of the
// AWS Load Balancer Controller, of EKS Auto Mode, and ours.
var classControllers = []string{"ingress.k8s.aws/alb", "eks.amazonaws.com/alb", OwnClassController}

// classOf names the IngressClass of an Ingress; empty if an annotation stands
// for it, or if there is none.
func classOf(i *networkingv1.Ingress) string {
	if _, ok := i.Annotations[classAnnotation]; ok || i.Spec.IngressClassName == nil {
		return ""
	}
	return *i.Spec.IngressClassName
}

// classed says whether the class of an Ingress is one of ours.
func classed(r *Request, i *networkingv1.Ingress, class *networkingv1.IngressClass) bool {
	annotated, byAnnotation := i.Annotations[classAnnotation]
	name := classOf(i)
	switch {
	case byAnnotation && annotated == annotatedALB:
		return true
	case byAnnotation:
		r.off(ReasonOtherIngressClass, "annotation %s: class %q is not for target groups; only %q is", classAnnotation, annotated, annotatedALB)
	case name == "":
		r.off(ReasonNoIngressClass, "spec.ingressClassName: name a class whose controller is %s", strings.Join(classControllers, " or "))
	case class == nil:
		r.unsure(ReasonIngressClassNotFound, "spec.ingressClassName: there is no IngressClass %s; bindings stay as they are", name)
	case !slices.Contains(classControllers, class.Spec.Controller):
		r.off(ReasonOtherIngressClass, "spec.ingressClassName: the controller of class %s is %s; target groups are for %s",
			name, describeController(class), strings.Join(classControllers, " or "))
	default:
		return true
	}
	return false
}

func describeController(c *networkingv1.IngressClass) string {
	if c.Spec.Controller == "" {
		return "not set"
	}
	return fmt.Sprintf("%q", c.Spec.Controller)
}
