package binding

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/ownership"
)

// reasons maps classes of errors to the reason that a condition gives, and
// says what to do where the error itself does not.
var reasons = []struct {
	class  error
	reason v1beta1.ConditionReason
	advice string
}{
	{ownership.ErrThrottled, v1beta1.ReasonThrottled, ""},
	{ownership.ErrGroupThrottled, v1beta1.ReasonThrottled, ""},
	{ownership.ErrForbidden, v1beta1.ReasonAccessDenied, ""},
	{ownership.ErrGroupForbidden, v1beta1.ReasonAccessDenied, "check the credentials and the policy of the controller's role"},
	{ownership.ErrTableMissing, v1beta1.ReasonTableUnavailable, ""},
	{ownership.ErrTableCreating, v1beta1.ReasonTableUnavailable, ""},
	{ownership.ErrUnavailable, v1beta1.ReasonTableUnavailable, ""},
	{ownership.ErrTooLarge, v1beta1.ReasonRecordTooLarge, ""},
	{ownership.ErrConflict, v1beta1.ReasonPending, ""},
	{ownership.ErrLookExpired, v1beta1.ReasonPending, ""},
	{ownership.ErrGroupMissing, v1beta1.ReasonGroupNotFound, "create the group, or delete this binding and create one for the right group"},
	{ownership.ErrGroupFull, v1beta1.ReasonGroupFull, "raise the quota of targets per target group, or run fewer"},
	{ownership.ErrInvalidTarget, v1beta1.ReasonTargetsRefused, ""},
	{elb.ErrGroupInvalid, v1beta1.ReasonInvalidSpec, "delete this binding and create one with the ARN or the name of a target group"},
	{elb.ErrGroupElsewhere, v1beta1.ReasonInvalidSpec, "bind the group with a controller of that region and account"},
	{ownership.ErrGroupUnavailable, v1beta1.ReasonLoadBalancerUnavailable, "check the network path to Elastic Load Balancing, and the region or endpoint that the controller was given"},
}

// explain finds the reason for an error.
func explain(err error) v1beta1.ConditionReason {
	if spec := new(specError); errors.As(err, &spec) {
		return spec.reason
	}
	if is[*cluster.DuplicateIDError](err) {
		return v1beta1.ReasonClusterIDConflict
	}
	if is[*cluster.RetiredError](err) || is[*cluster.UnknownStateError](err) {
		return v1beta1.ReasonClusterNotActive
	}
	if is[*cluster.LoadBalancerControllerError](err) {
		return v1beta1.ReasonLoadBalancerControllerActive
	}
	if is[*ownership.UnreadableError](err) {
		return v1beta1.ReasonRecordUnreadable
	}
	if is[*endpoints.ServiceNotFoundError](err) {
		return v1beta1.ReasonServiceNotFound
	}
	if is[*endpoints.PortNotFoundError](err) {
		return v1beta1.ReasonPortNotFound
	}
	if is[*endpoints.WrongServiceTypeError](err) {
		return v1beta1.ReasonWrongTargetType
	}
	if is[*endpoints.InvalidNodeSelectorError](err) {
		return v1beta1.ReasonInvalidSpec
	}
	if is[*elb.WrongTargetTypeError](err) {
		return v1beta1.ReasonWrongTargetType
	}
	if is[*endpoints.UnknownError](err) {
		return v1beta1.ReasonEndpointsUnknown
	}
	for _, r := range reasons {
		if errors.Is(err, r.class) {
			return r.reason
		}
	}
	if waiting := new(cluster.NotClaimedError); errors.As(err, &waiting) && waiting.Err == nil || errors.Is(err, context.Canceled) {
		return v1beta1.ReasonPending
	}
	return v1beta1.ReasonReconcileError
}

// text is the message of a condition about an error.
func text(err error) string {
	for _, r := range reasons {
		if r.advice != "" && errors.Is(err, r.class) {
			return err.Error() + "; " + r.advice
		}
	}
	return err.Error()
}

func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// needsPerson are the reasons that no retry mends: a person has to change the
// binding, the Service or the group, and that change is an event or is seen
// at the next comparison.
var needsPerson = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonInvalidSpec:     true,
	v1beta1.ReasonWrongTargetType: true,
	v1beta1.ReasonServiceNotFound: true,
	v1beta1.ReasonPortNotFound:    true,
}

// failure judges a pass that ended early. What keeps the controller from
// knowing makes Ready unknown; the rest makes it false.
func failure(err error) verdict {
	v := verdict{metav1.ConditionUnknown, explain(err), text(err)}
	if needsPerson[v.reason] || v.reason == v1beta1.ReasonGroupNotFound || v.reason == v1beta1.ReasonPending {
		v.status = metav1.ConditionFalse
	}
	return v
}

func ownershipUnknown(err error) verdict {
	v := failure(err)
	if v.reason == v1beta1.ReasonRecordUnreadable || v.reason == v1beta1.ReasonClusterIDConflict {
		v.status = metav1.ConditionFalse
		return v
	}
	v.status = metav1.ConditionUnknown
	return v
}
