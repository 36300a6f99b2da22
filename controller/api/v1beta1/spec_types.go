package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TargetType is what a target group registers.
//
// +kubebuilder:validation:Enum=instance;ip
type TargetType string

const (
	// TargetTypeInstance registers EC2 instances with the node port of the
	// Service.
	TargetTypeInstance TargetType = "instance"
	// TargetTypeIP registers pod IPs with the port of the container.
	TargetTypeIP TargetType = "ip"
)

// IPAddressType is the address family of a target group.
//
// +kubebuilder:validation:Enum=ipv4;ipv6
type IPAddressType string

const (
	// IPAddressTypeIPv4 is a group of IPv4 targets.
	IPAddressTypeIPv4 IPAddressType = "ipv4"
	// IPAddressTypeIPv6 is a group of IPv6 targets.
	IPAddressTypeIPv6 IPAddressType = "ipv6"
)

// Protocol is how the load balancer talks to the targets of a group.
//
// +kubebuilder:validation:Enum=HTTP;HTTPS;TCP;TLS;UDP;TCP_UDP;QUIC;TCP_QUIC
type Protocol string

// The protocols of target groups.
const (
	ProtocolHTTP    Protocol = "HTTP"
	ProtocolHTTPS   Protocol = "HTTPS"
	ProtocolTCP     Protocol = "TCP"
	ProtocolTLS     Protocol = "TLS"
	ProtocolUDP     Protocol = "UDP"
	ProtocolTCPUDP  Protocol = "TCP_UDP"
	ProtocolQUIC    Protocol = "QUIC"
	ProtocolTCPQUIC Protocol = "TCP_QUIC"
)

// TargetGroupBindingSpec says which endpoints go into which target group.
//
// +kubebuilder:validation:XValidation:rule=`self.?targetGroupARN.orValue("") != "" || self.?targetGroupName.orValue("") != ""`,message="set targetGroupARN or targetGroupName"
// +kubebuilder:validation:XValidation:rule=`self.?targetGroupARN.orValue("") == "" || self.?targetGroupName.orValue("") == "" || self.targetGroupARN.contains(":targetgroup/" + self.targetGroupName + "/")`,fieldPath=.targetGroupName,message="targetGroupARN is the ARN of a group with another name; remove targetGroupName or correct it"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?targetGroupARN.orValue("") == "" || self.?targetGroupARN.orValue("") == "" || self.targetGroupARN == oldSelf.targetGroupARN`,fieldPath=.targetGroupARN,message="the target group cannot be changed; create another binding for the other group"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?targetGroupARN.orValue("") == "" || self.?targetGroupARN.orValue("") != "" || (has(self.targetGroupName) && oldSelf.targetGroupARN.contains(":targetgroup/" + self.targetGroupName + "/"))`,fieldPath=.targetGroupName,message="the target group cannot be changed; create another binding for the other group"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?targetGroupARN.orValue("") != "" || oldSelf.?targetGroupName.orValue("") == "" || (self.?targetGroupARN.orValue("") != "" ? self.targetGroupARN.contains(":targetgroup/" + oldSelf.targetGroupName + "/") : self.?targetGroupName.orValue("") == oldSelf.targetGroupName)`,fieldPath=.targetGroupName,message="the target group cannot be changed; create another binding for the other group"
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.targetType) || (has(self.targetType) && self.targetType == oldSelf.targetType)`,fieldPath=.targetType,message="targetType cannot be changed or removed once set"
// +kubebuilder:validation:XValidation:rule=`!has(oldSelf.ipAddressType) || (has(self.ipAddressType) && self.ipAddressType == oldSelf.ipAddressType)`,fieldPath=.ipAddressType,message="ipAddressType cannot be changed or removed once set"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?vpcID.orValue("") == "" || self.?vpcID.orValue("") == oldSelf.vpcID`,fieldPath=.vpcID,message="vpcID cannot be changed or removed once set"
// +kubebuilder:validation:XValidation:rule=`!has(self.nodeSelector) || self.?targetType.orValue("") != "ip"`,fieldPath=.nodeSelector,message="nodeSelector chooses among nodes and needs targetType instance; remove it for targetType ip"
// +kubebuilder:validation:XValidation:rule=`self.?iamRoleArnToAssume.orValue("") == "" || self.?targetType.orValue("") != "instance"`,fieldPath=.iamRoleArnToAssume,message="a group in another account cannot register this account's instances; use targetType ip"
// +kubebuilder:validation:XValidation:rule=`!(self.?targetGroupProtocol.orValue("") in ["QUIC", "TCP_QUIC"]) || self.?targetType.orValue("") != "instance"`,fieldPath=.targetGroupProtocol,message="QUIC groups cannot register instances; use targetType ip"
type TargetGroupBindingSpec struct {
	// TargetGroupARN is the target group, by its Amazon Resource Name. Either
	// this or targetGroupName is needed; with both, they must agree, and the
	// ARN is used. The group of a binding cannot be changed.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^arn:aws[a-zA-Z-]*:elasticloadbalancing:[a-z0-9-]+:[0-9]{12}:targetgroup/[^/]+/[^/]+$")`,message="must be the ARN of a target group, such as arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/my-group/73e2d6bc24d8a067"
	TargetGroupARN string `json:"targetGroupARN,omitempty"`

	// TargetGroupName is the target group, by its name in the region and
	// account that the controller works in. The ARN found for it is in
	// status.targetGroupARN.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$")`,message="must be the name of a target group: up to 32 letters, digits and hyphens, with no hyphen at either end"
	TargetGroupName string `json:"targetGroupName,omitempty"`

	// MultiClusterTargetGroup tells the controller that others put targets into
	// the group as well. If true, only targets that this binding registered are
	// ever taken out. If false or unset, the binding wants the group for itself,
	// and targets that no binding holds are taken out.
	// +optional
	MultiClusterTargetGroup bool `json:"multiClusterTargetGroup,omitempty"`

	// TargetType says whether nodes (instance) or pods (ip) are registered. It
	// must be the target type of the group, which is used if this is unset.
	// Cannot be changed once set.
	// +optional
	TargetType *TargetType `json:"targetType,omitempty"`

	// TargetGroupProtocol is the protocol of the group, which is used if this is
	// unset.
	// +optional
	TargetGroupProtocol *Protocol `json:"targetGroupProtocol,omitempty"`

	// ServiceRef is the Service, in the namespace of the binding, and its port
	// whose endpoints are registered.
	ServiceRef ServiceReference `json:"serviceRef"`

	// Networking describes the traffic that the targets should accept from the
	// load balancer. This controller does not manage security groups: the field
	// is accepted, and the condition Ready says NetworkingNotManaged.
	// +optional
	Networking *TargetGroupBindingNetworking `json:"networking,omitempty"`

	// NodeSelector narrows the nodes that are registered, in groups of target
	// type instance. All nodes fit for load balancer traffic are registered if
	// this is unset.
	// +optional
	NodeSelector *metav1.LabelSelector `json:"nodeSelector,omitempty"`

	// IPAddressType is the address family of the group, which is used if this is
	// unset. Cannot be changed once set.
	// +optional
	IPAddressType *IPAddressType `json:"ipAddressType,omitempty"`

	// VpcID is the VPC of the group, which is used if this is unset. Cannot be
	// changed once set.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^vpc-([0-9a-f]{8}|[0-9a-f]{17}|[0-9a-f]{32})$")`,message="must be a VPC ID: vpc- and 8, 17 or 32 of the characters 0-9 and a-f"
	VpcID string `json:"vpcID,omitempty"`

	// IamRoleArnToAssume is the IAM role to assume for all calls on the group,
	// for a group in another account. Needs targetType ip.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^arn:aws[a-zA-Z-]*:iam::[0-9]{12}:role/.+$")`,message="must be the ARN of an IAM role, such as arn:aws:iam::123456789012:role/targets"
	IamRoleArnToAssume string `json:"iamRoleArnToAssume,omitempty"`

	// AssumeRoleExternalId is the external ID that the trust policy of the
	// assumed role asks for. Without iamRoleArnToAssume it has no effect.
	// See https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html.
	// +optional
	AssumeRoleExternalID string `json:"assumeRoleExternalId,omitempty"`
}

// ServiceReference is a port of a Service in the namespace of the binding.
type ServiceReference struct {
	// Name is the name of the Service.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Port is the port of the Service: a string is its name, an integer its
	// number. It is never the port of the container.
	// +kubebuilder:validation:XValidation:rule=`type(self) == int ? (self >= 1 && self <= 65535) : self.matches("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")`,message="must be the number of a Service port, 1 to 65535, or its name: up to 63 lower case letters, digits and hyphens"
	Port intstr.IntOrString `json:"port"`
}
