package managed

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
)

// taken is about a binding that somebody else made.
func taken(kind string, w Wanted) *Problem {
	return &Problem{ReasonNameTaken, fmt.Sprintf("%s %s was not made from annotations, and is left as it is; rename it, or bind port %s of Service %s by hand only",
		kind, w.Name(), w.Port.String(), w.Service), w.Name()}
}

// disagreement is about what the name of a binding leaves open, on which the
// owner that is its controller decides.
func disagreement(b *v1beta1.TargetGroupBinding, w Wanted, owner client.Object) *Problem {
	asked := b.DeepCopy()
	w.into(asked, owner)
	c := metav1.GetControllerOf(b)
	switch {
	case !equality.Semantic.DeepEqual(asked.Spec.NodeSelector, b.Spec.NodeSelector):
		return &Problem{ReasonOwnersDisagree, fmt.Sprintf("nodeSelector: %s %s asks for binding %s with another one, which counts; make them equal", c.Kind, c.Name, b.Name), b.Name}
	case !equality.Semantic.DeepEqual(asked.Annotations, b.Annotations):
		return &Problem{ReasonOwnersDisagree, fmt.Sprintf("annotations %s...: %s %s asks for binding %s with other ones, which count; make them equal",
			v1beta1.AnnotationPrefix, c.Kind, c.Name, b.Name), b.Name}
	default:
		return nil
	}
}

// refused reports whether the Kubernetes API, or a webhook of it, does not want
// a binding.
func refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)
}

func refusal(w Wanted, err error) *Problem {
	return &Problem{ReasonBindingRefused, fmt.Sprintf("binding %s: %v", w.Name(), err), w.Name()}
}

// routine are reasons of Ready that pass by themselves, or that an operator
// wants so.
var routine = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonPending: true, v1beta1.ReasonBlocked: true,
	v1beta1.ReasonClusterDrained: true, v1beta1.ReasonClusterRetired: true, v1beta1.ReasonClusterNotActive: true,
}

// unready tells on the owner what a person has to mend in a binding.
func unready(b *v1beta1.TargetGroupBinding) *Problem {
	c := meta.FindStatusCondition(b.Status.Conditions, string(v1beta1.ConditionReady))
	if c == nil || c.Status != metav1.ConditionFalse || routine[v1beta1.ConditionReason(c.Reason)] {
		return nil
	}
	return &Problem{Reason(c.Reason), fmt.Sprintf("binding %s: %s", b.Name, c.Message), b.Name}
}

func ready(b *v1beta1.TargetGroupBinding) bool {
	return b != nil && b.Status.ObservedGeneration == b.Generation &&
		meta.IsStatusConditionTrue(b.Status.Conditions, string(v1beta1.ConditionReady))
}
