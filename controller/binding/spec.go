package binding

import (
	"fmt"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
)

// specError is a field of a binding that cannot be used. It names the field
// and what to do, and goes into a condition as it is.
type specError struct {
	reason  v1beta1.ConditionReason
	message string
}

func (e *specError) Error() string { return e.message }

func invalidSpec(format string, args ...any) error {
	return &specError{v1beta1.ReasonInvalidSpec, fmt.Sprintf(format, args...)}
}

// reference is the group that a binding means, and the role that reaches it.
type reference struct {
	elb.GroupRef
	role elb.Role
}

// ref is what the spec says of the group. With both fields set the ARN counts:
// the webhook of the AWS Load Balancer Controller stores it beside the name.
func ref(b *v1beta1.TargetGroupBinding) reference {
	if b.Spec.TargetGroupARN != "" {
		return reference{elb.GroupRef{ARN: b.Spec.TargetGroupARN}, role(b)}
	}
	return reference{elb.GroupRef{Name: b.Spec.TargetGroupName}, role(b)}
}

// role is that of the spec. An external ID alone has no effect.
func role(b *v1beta1.TargetGroupBinding) elb.Role {
	if b.Spec.IamRoleArnToAssume == "" {
		return elb.Role{}
	}
	return elb.Role{ARN: b.Spec.IamRoleArnToAssume, ExternalID: b.Spec.AssumeRoleExternalID}
}

func refField(b *v1beta1.TargetGroupBinding) string {
	if b.Spec.TargetGroupARN == "" && b.Spec.TargetGroupName != "" {
		return "spec.targetGroupName"
	}
	return "spec.targetGroupARN"
}

// supported refuses a role that can be none, and one for which there is no
// AWS STS.
func (r *Reconciler) supported(b *v1beta1.TargetGroupBinding) error {
	role := role(b)
	if err := role.Validate(); err != nil {
		return &specError{v1beta1.ReasonInvalidSpec, err.Error()}
	}
	if role.ARN != "" && r.Assume == nil {
		return invalidSpec("spec.iamRoleArnToAssume: this controller assumes no roles, since it works with an endpoint of --elbv2-endpoint and none of AWS STS; set AWS_ENDPOINT_URL_STS, or remove the field")
	}
	return nil
}

// check holds the spec against the group as it is.
func check(b *v1beta1.TargetGroupBinding, g elb.Group) error {
	if !b.DeletionTimestamp.IsZero() {
		return nil
	}
	if g.TargetType != string(v1beta1.TargetTypeIP) && g.TargetType != string(v1beta1.TargetTypeInstance) {
		return &specError{v1beta1.ReasonWrongTargetType, fmt.Sprintf("target group %s has targets of type %s; only ip and instance can be bound", g.Name, g.TargetType)}
	}
	if t := b.Spec.TargetType; t != nil && string(*t) != g.TargetType {
		return &specError{v1beta1.ReasonWrongTargetType, fmt.Sprintf("spec.targetType is %s and target group %s has targets of type %s; correct or remove the field", *t, g.Name, g.TargetType)}
	}
	if f := b.Spec.IPAddressType; f != nil && string(*f) != g.IPAddressType {
		return invalidSpec("spec.ipAddressType is %s and target group %s is %s; correct or remove the field", *f, g.Name, g.IPAddressType)
	}
	if p := b.Spec.TargetGroupProtocol; p != nil && string(*p) != g.Protocol {
		return invalidSpec("spec.targetGroupProtocol is %s and target group %s is %s; correct or remove the field", *p, g.Name, g.Protocol)
	}
	if v := b.Spec.VpcID; v != "" && v != g.VPCID {
		return invalidSpec("spec.vpcID is %s and target group %s is in %s; correct or remove the field", v, g.Name, g.VPCID)
	}
	if b.Spec.NodeSelector != nil && g.TargetType != string(v1beta1.TargetTypeInstance) {
		return invalidSpec("spec.nodeSelector chooses among nodes and target group %s has targets of type %s; remove the field", g.Name, g.TargetType)
	}
	return nil
}
