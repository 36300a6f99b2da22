package v1beta1

import "k8s.io/apimachinery/pkg/util/intstr"

// TargetGroupBindingNetworking describes the traffic that the targets of a
// binding should accept. It is accepted for compatibility and not acted on.
type TargetGroupBindingNetworking struct {
	// Ingress lists the traffic to allow.
	// +optional
	Ingress []NetworkingIngressRule `json:"ingress,omitempty"`
}

// NetworkingIngressRule allows every peer to reach every port it lists.
type NetworkingIngressRule struct {
	// From lists where the traffic comes from.
	From []NetworkingPeer `json:"from"`

	// Ports lists where the traffic goes to; an empty list means all TCP ports.
	Ports []NetworkingPort `json:"ports"`
}

// NetworkingPeer is a source of traffic: an address range or a security group.
type NetworkingPeer struct {
	// IPBlock is a source by its addresses.
	// +optional
	IPBlock *IPBlock `json:"ipBlock,omitempty"`

	// SecurityGroup is a source by its EC2 security group.
	// +optional
	SecurityGroup *SecurityGroup `json:"securityGroup,omitempty"`
}

// IPBlock is an IPv4 or IPv6 address range.
type IPBlock struct {
	// CIDR is the range, such as 10.0.0.0/16 or 2001:db8::/56.
	CIDR string `json:"cidr"`
}

// SecurityGroup refers to an EC2 security group.
type SecurityGroup struct {
	// GroupID is its ID, such as sg-0b6a41a2fd959623f.
	GroupID string `json:"groupID"`
}

// NetworkingPort is a port that traffic goes to.
type NetworkingPort struct {
	// Protocol is TCP or UDP; TCP if unset.
	// +optional
	Protocol *NetworkingProtocol `json:"protocol,omitempty"`

	// Port is a number, or, for targets of type ip, the name of a container
	// port; all ports if unset.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
}

// NetworkingProtocol is a transport protocol.
//
// +kubebuilder:validation:Enum=TCP;UDP
type NetworkingProtocol string

const (
	// NetworkingProtocolTCP is TCP.
	NetworkingProtocolTCP NetworkingProtocol = "TCP"
	// NetworkingProtocolUDP is UDP.
	NetworkingProtocolUDP NetworkingProtocol = "UDP"
)
