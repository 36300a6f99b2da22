package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Finalizer keeps a deleted binding in the cluster until its targets are
// released. It is this controller's own: the AWS Load Balancer Controller's
// finalizer on the same objects, elbv2.k8s.aws/resources, is never touched.
const Finalizer = "elbv2.k8s.aws/target-ownership"

// ManagedLabel marks the bindings that were made from the annotations of a
// Service or an Ingress, with the value "true". Without it a binding is a
// person's.
const ManagedLabel = "elbv2.k8s.aws/target-ownership-managed"

// TargetGroupBinding registers the endpoints of a Service port as targets of an
// ELBv2 target group (of an Application or a Network Load Balancer) and keeps
// them up to date. Other clusters, ECS services and people may use the same
// target group: what they registered stays.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name=SERVICE-NAME,type=string,JSONPath=.spec.serviceRef.name,description="Service whose endpoints are registered"
// +kubebuilder:printcolumn:name=SERVICE-PORT,type=string,JSONPath=.spec.serviceRef.port,description="Port of the Service, by name or number"
// +kubebuilder:printcolumn:name=TARGET-TYPE,type=string,JSONPath=.spec.targetType,description="Kind of targets, if the spec names it"
// +kubebuilder:printcolumn:name=READY,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every wanted target is registered"
// +kubebuilder:printcolumn:name=HELD,type=integer,JSONPath=.status.targets.held,description="Targets that this binding holds"
// +kubebuilder:printcolumn:name=ARN,type=string,JSONPath=.status.targetGroupARN,description="Target group in use",priority=1
// +kubebuilder:printcolumn:name=AGE,type=date,JSONPath=.metadata.creationTimestamp
type TargetGroupBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which endpoints go into which target group.
	Spec TargetGroupBindingSpec `json:"spec"`

	// Status says what the controller made of it. It is written by the
	// controller only.
	// +optional
	Status TargetGroupBindingStatus `json:"status,omitempty"`
}

// TargetGroupBindingList is a list of bindings.
//
// +kubebuilder:object:root=true
type TargetGroupBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the bindings.
	Items []TargetGroupBinding `json:"items"`
}
