package v1beta1

// ConditionType is the type of a condition in the status of a binding.
type ConditionType string

const (
	// ConditionReady is True if every endpoint of the Service that should be a
	// target is registered. It is Unknown if the controller could not find out
	// which endpoints there are or what is registered; nothing is taken out of
	// the group then.
	ConditionReady ConditionType = "Ready"

	// ConditionOwnershipConsistent is True if the ownership records of the group
	// fit together and fit this binding. It says nothing about health.
	ConditionOwnershipConsistent ConditionType = "OwnershipConsistent"
)

// ConditionReason is the reason of a condition in the status of a binding.
type ConditionReason string

// Reasons of Ready when it is True.
const (
	// ReasonReconciled: every wanted target is registered.
	ReasonReconciled ConditionReason = "Reconciled"

	// ReasonNetworkingNotManaged: as ReasonReconciled, but spec.networking asks
	// for security group rules, which this controller does not manage.
	ReasonNetworkingNotManaged ConditionReason = "NetworkingNotManaged"

	// ReasonLimited: every target that the policies of the binding allow is
	// registered, and the message says how many endpoints are left out, and by
	// which annotation.
	ReasonLimited ConditionReason = "Limited"
)

// Reasons of Ready when it is False and the controller goes on by itself.
const (
	// ReasonPending: registrations are still to be made or confirmed.
	ReasonPending ConditionReason = "Pending"

	// ReasonBlocked: targets wait until another owner has finished taking them
	// out of the group.
	ReasonBlocked ConditionReason = "Blocked"

	// ReasonHandingOver: the binding is deleted, and keeps its targets until the
	// owner that its annotation names holds them.
	ReasonHandingOver ConditionReason = "HandingOver"

	// ReasonGroupFull: the group's target quota is reached; what does not fit
	// waits. Raise the quota, or use fewer targets.
	ReasonGroupFull ConditionReason = "GroupFull"

	// ReasonTargetsRefused: ELB refused some targets, which the message names.
	// The others are registered.
	ReasonTargetsRefused ConditionReason = "TargetsRefused"
)

// Reasons of Ready when it is False and a person has to change something in the
// binding, the Service or the target group.
const (
	// ReasonGroupNotFound: no target group has the ARN or name of the spec.
	ReasonGroupNotFound ConditionReason = "GroupNotFound"

	// ReasonInvalidSpec: a field of the spec cannot be used, or contradicts the
	// group.
	ReasonInvalidSpec ConditionReason = "InvalidSpec"

	// ReasonNotAllowed: the rules of the controller (--allowed-groups) do not let
	// the namespace bind the target group. Nothing is registered; targets whose
	// endpoints are gone leave.
	ReasonNotAllowed ConditionReason = "NotAllowed"

	// ReasonServiceNotFound: the Service does not exist in the namespace.
	ReasonServiceNotFound ConditionReason = "ServiceNotFound"

	// ReasonPortNotFound: the Service has no such port.
	ReasonPortNotFound ConditionReason = "PortNotFound"

	// ReasonWrongTargetType: the target type of the spec is not the group's, or
	// the group's is one that cannot be bound (lambda, alb), or the Service has
	// no node port for targets of type instance.
	ReasonWrongTargetType ConditionReason = "WrongTargetType"
)

// Reasons of Ready when it is False or Unknown and something around the binding
// is missing. No target is taken out of the group on any of these.
const (
	// ReasonEndpointsUnknown: the endpoints could not be read, or were read once
	// as empty and still need to be confirmed.
	ReasonEndpointsUnknown ConditionReason = "EndpointsUnknown"

	// ReasonTableUnavailable: the ownership table is missing, being created or
	// cannot be reached. Also a reason of OwnershipConsistent.
	ReasonTableUnavailable ConditionReason = "TableUnavailable"

	// ReasonAccessDenied: AWS refused a call that the message names; the role
	// lacks a permission.
	ReasonAccessDenied ConditionReason = "AccessDenied"

	// ReasonRoleNotAssumed: the role of spec.iamRoleArnToAssume could not be
	// assumed. The message says what AWS STS answered, and what to check.
	ReasonRoleNotAssumed ConditionReason = "RoleNotAssumed"

	// ReasonThrottled: AWS asks for fewer calls; the controller retries later.
	ReasonThrottled ConditionReason = "Throttled"

	// ReasonLoadBalancerUnavailable: the Elastic Load Balancing API gives no
	// usable answer.
	ReasonLoadBalancerUnavailable ConditionReason = "LoadBalancerUnavailable"

	// ReasonLoadBalancerControllerActive: the AWS Load Balancer Controller runs
	// in this cluster and would reconcile the same objects, so this controller
	// does not.
	ReasonLoadBalancerControllerActive ConditionReason = "LoadBalancerControllerActive"

	// ReasonClusterIDConflict: another cluster is registered with the cluster ID
	// of this one.
	ReasonClusterIDConflict ConditionReason = "ClusterIDConflict"
)

// Reasons of Ready when none of the others fits.
const (
	// ReasonReconcileError: something failed that the message names, such as a
	// permission of the controller in this cluster.
	ReasonReconcileError ConditionReason = "ReconcileError"
)

// Reasons of Ready when an operator has taken the cluster out of service.
const (
	// ReasonClusterDrained: an operator drains the cluster, so that its targets
	// leave the groups that it shares.
	ReasonClusterDrained ConditionReason = "ClusterDrained"

	// ReasonClusterRetired: an operator has retired the cluster, which registers
	// nothing until that is undone.
	ReasonClusterRetired ConditionReason = "ClusterRetired"

	// ReasonClusterNotActive: the entry of the cluster in the ownership table
	// cannot be read, or has a state that this version does not know.
	ReasonClusterNotActive ConditionReason = "ClusterNotActive"
)

// Reasons of OwnershipConsistent.
const (
	// ReasonConsistent: no record contradicts another or this binding.
	ReasonConsistent ConditionReason = "Consistent"

	// ReasonShared: other owners hold targets of the group. The condition is
	// True for a binding with multiClusterTargetGroup, and False for one without,
	// which wants the group for itself: their targets are kept nevertheless.
	ReasonShared ConditionReason = "Shared"

	// ReasonRecordUnreadable: a record of the group cannot be decoded, or was
	// written by a newer version of the controller. No target is taken out of the
	// group until it can be read.
	ReasonRecordUnreadable ConditionReason = "RecordUnreadable"

	// ReasonRecordTooLarge: the record of this binding would exceed the 400 KB
	// that DynamoDB allows for an item; further targets are not claimed.
	ReasonRecordTooLarge ConditionReason = "RecordTooLarge"
)
