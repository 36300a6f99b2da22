package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
)

// SharedTargetGroupBinding registers the endpoints of a Service port as targets
// of an ELBv2 target group, and takes out no targets but those that it
// registered. It is a TargetGroupBinding with multiClusterTargetGroup: true,
// which the AWS Load Balancer Controller leaves alone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=stgb
// +kubebuilder:printcolumn:name=SERVICE-NAME,type=string,JSONPath=.spec.serviceRef.name,description="Service whose endpoints are registered"
// +kubebuilder:printcolumn:name=SERVICE-PORT,type=string,JSONPath=.spec.serviceRef.port,description="Port of the Service, by name or number"
// +kubebuilder:printcolumn:name=TARGET-TYPE,type=string,JSONPath=.spec.targetType,description="Kind of targets, if the spec names it"
// +kubebuilder:printcolumn:name=READY,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every wanted target is registered"
// +kubebuilder:printcolumn:name=HELD,type=integer,JSONPath=.status.targets.held,description="Targets that this binding holds"
// +kubebuilder:printcolumn:name=ARN,type=string,JSONPath=.status.targetGroupARN,description="Target group in use",priority=1
// +kubebuilder:printcolumn:name=AGE,type=date,JSONPath=.metadata.creationTimestamp
type SharedTargetGroupBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which endpoints go into which target group. The group is always
	// shared: multiClusterTargetGroup may be left out, and may not be false.
	// +kubebuilder:validation:XValidation:rule=`!has(self.multiClusterTargetGroup) || self.multiClusterTargetGroup`,fieldPath=.multiClusterTargetGroup,message="a SharedTargetGroupBinding is always shared; remove the field, or use a TargetGroupBinding for a group of its own"
	Spec v1beta1.TargetGroupBindingSpec `json:"spec"`

	// Status says what the controller made of it. It is written by the
	// controller only.
	// +optional
	Status v1beta1.TargetGroupBindingStatus `json:"status,omitempty"`
}

// SharedTargetGroupBindingList is a list of bindings.
//
// +kubebuilder:object:root=true
type SharedTargetGroupBindingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the bindings.
	Items []SharedTargetGroupBinding `json:"items"`
}
