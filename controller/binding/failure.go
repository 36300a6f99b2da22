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

// reasons maps errors to the reason that a condition gives, and says what to
// do where the error itself does not. The first match counts: an error that
// names its trouble comes before the class that it may wrap.
var reasons = []struct {
	match  func(error) bool
	reason v1beta1.ConditionReason
	advice string
}{
	{is[*cluster.DuplicateIDError], v1beta1.ReasonClusterIDConflict, ""},
	{is[*cluster.RenamedError], v1beta1.ReasonClusterIDConflict, ""},
	{is[*cluster.UnreadableEntryError], v1beta1.ReasonClusterNotActive, ""},
	{is[*cluster.RetiredError], v1beta1.ReasonClusterRetired, ""},
	{is[*cluster.UnknownStateError], v1beta1.ReasonClusterNotActive, ""},
	{is[*cluster.LoadBalancerControllerError], v1beta1.ReasonLoadBalancerControllerActive, ""},
	{of(errDrained), v1beta1.ReasonClusterDrained, ""},
	{is[*elb.RoleError], v1beta1.ReasonRoleNotAssumed, ""},
	{is[*ownership.UnreadableError], v1beta1.ReasonRecordUnreadable, ""},
	{is[*endpoints.ServiceNotFoundError], v1beta1.ReasonServiceNotFound, ""},
	{is[*endpoints.PortNotFoundError], v1beta1.ReasonPortNotFound, ""},
	{is[*endpoints.WrongServiceTypeError], v1beta1.ReasonWrongTargetType, ""},
	{is[*endpoints.InvalidNodeSelectorError], v1beta1.ReasonInvalidSpec, ""},
	{is[*elb.WrongTargetTypeError], v1beta1.ReasonWrongTargetType, ""},
	{is[*endpoints.UnknownError], v1beta1.ReasonEndpointsUnknown, ""},
	{of(ownership.ErrThrottled), v1beta1.ReasonThrottled, ""},
	{of(ownership.ErrGroupThrottled), v1beta1.ReasonThrottled, ""},
	{of(ownership.ErrForbidden), v1beta1.ReasonAccessDenied, ""},
	{of(ownership.ErrGroupForbidden), v1beta1.ReasonAccessDenied, "check the credentials and the policy of the controller's role"},
	{of(ownership.ErrTableMissing), v1beta1.ReasonTableUnavailable, ""},
	{of(ownership.ErrTableCreating), v1beta1.ReasonTableUnavailable, ""},
	{of(ownership.ErrUnavailable), v1beta1.ReasonTableUnavailable, ""},
	{of(ownership.ErrTooLarge), v1beta1.ReasonRecordTooLarge, ""},
	{of(ownership.ErrConflict), v1beta1.ReasonPending, ""},
	{of(ownership.ErrLookExpired), v1beta1.ReasonPending, ""},
	{of(ownership.ErrNotTried), v1beta1.ReasonPending, ""},
	{of(ownership.ErrGroupMissing), v1beta1.ReasonGroupNotFound, "create the group, or delete this binding and create one for the right group"},
	{of(ownership.ErrGroupFull), v1beta1.ReasonGroupFull, "raise the quota of targets per target group, or run fewer"},
	{of(elb.ErrCrossZoneOff), v1beta1.ReasonTargetsRefused, "let the group's attribute load_balancing.cross_zone.enabled be true, or bind a group of the VPC that the targets are in"},
	{of(ownership.ErrInvalidTarget), v1beta1.ReasonTargetsRefused, ""},
	{of(elb.ErrGroupInvalid), v1beta1.ReasonInvalidSpec, "delete this binding and create one with the ARN or the name of a target group"},
	{of(elb.ErrGroupElsewhere), v1beta1.ReasonInvalidSpec, ""},
	{of(ownership.ErrGroupUnavailable), v1beta1.ReasonLoadBalancerUnavailable, "check the network path to Elastic Load Balancing, and the region or endpoint that the controller was given"},
	{unclaimed, v1beta1.ReasonPending, ""},
	{of(context.Canceled), v1beta1.ReasonPending, ""},
}

func is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func of(class error) func(error) bool {
	return func(err error) bool { return errors.Is(err, class) }
}

// unclaimed is before the first answer of the registry.
func unclaimed(err error) bool {
	var waiting *cluster.NotClaimedError
	return errors.As(err, &waiting) && waiting.Err == nil
}

// explain finds the reason for an error.
func explain(err error) v1beta1.ConditionReason {
	if spec := new(specError); errors.As(err, &spec) {
		return spec.reason
	}
	for _, r := range reasons {
		if r.match(err) {
			return r.reason
		}
	}
	return v1beta1.ReasonReconcileError
}

// text is the message of a condition about an error.
func text(err error) string {
	for _, r := range reasons {
		if !r.match(err) {
			continue
		}
		if r.advice != "" {
			return err.Error() + "; " + r.advice
		}
		break
	}
	return err.Error()
}

// needsPerson are the reasons that no retry mends: a person has to change the
// binding, the Service or the group, and that change is an event or is seen
// at the next comparison.
var needsPerson = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonInvalidSpec:     true,
	v1beta1.ReasonWrongTargetType: true,
	v1beta1.ReasonNotAllowed:      true,
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
