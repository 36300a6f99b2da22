package managed

// Reason is the reason of an event on a Service or an Ingress.
type Reason string

// Events of type Normal.
const (
	// ReasonBindingCreated: a binding was made for a port and a target group.
	ReasonBindingCreated Reason = "BindingCreated"

	// ReasonBindingDeleted: a binding is no longer asked for.
	ReasonBindingDeleted Reason = "BindingDeleted"
)

// Events of type Warning about what is asked for. Bindings that exist stay,
// unless the meaning says that they go.
const (
	// ReasonInvalidAnnotation: an annotation, or a line of it, cannot be read.
	// The other lines count.
	ReasonInvalidAnnotation Reason = "InvalidAnnotation"

	// ReasonNotShared: groups are named, and the switch is missing or false.
	// Bindings go.
	ReasonNotShared Reason = "NotShared"

	// ReasonAmbiguous: a group is named without a port or backend, or with too
	// little of it, and there are several.
	ReasonAmbiguous Reason = "Ambiguous"

	// ReasonNamedTwice: two lines name the same port; the first counts.
	ReasonNamedTwice Reason = "NamedTwice"

	// ReasonServiceNotFound: a backend of the Ingress is a Service that does not
	// exist.
	ReasonServiceNotFound Reason = "ServiceNotFound"

	// ReasonPortNotFound: the Service has no such port.
	ReasonPortNotFound Reason = "PortNotFound"

	// ReasonNoEndpoints: the Service is of type ExternalName.
	ReasonNoEndpoints Reason = "NoEndpoints"

	// ReasonBackendNotFound: the Ingress has no such backend.
	ReasonBackendNotFound Reason = "BackendNotFound"

	// ReasonActionBackend: the backend is an action of the AWS Load Balancer
	// Controller, such as a redirect, and no Service.
	ReasonActionBackend Reason = "ActionBackend"

	// ReasonNoIngressClass: the Ingress has no class. Bindings go.
	ReasonNoIngressClass Reason = "NoIngressClass"

	// ReasonIngressClassNotFound: the class of the Ingress does not exist.
	ReasonIngressClassNotFound Reason = "IngressClassNotFound"

	// ReasonOtherIngressClass: the class of the Ingress is not for target
	// groups. Bindings go.
	ReasonOtherIngressClass Reason = "OtherIngressClass"
)

// Events of type Warning about the bindings. Besides, the reason of a binding
// that is not ready is told on what asks for it, if a person has to act.
const (
	// ReasonNameTaken: a binding of that name was made by somebody else, and is
	// left as it is.
	ReasonNameTaken Reason = "NameTaken"

	// ReasonOwnersDisagree: another Service or Ingress asks for the same binding
	// in another way, which counts.
	ReasonOwnersDisagree Reason = "OwnersDisagree"

	// ReasonBindingRefused: the Kubernetes API refuses the binding, by a rule, a
	// webhook, a quota or a missing permission. It is tried again.
	ReasonBindingRefused Reason = "BindingRefused"

	// ReasonLoadBalancerControllerActive: the AWS Load Balancer Controller runs
	// in this cluster and works on the kind of binding that would be made.
	ReasonLoadBalancerControllerActive Reason = "LoadBalancerControllerActive"
)
