package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TargetGroupBindingStatus says what the controller made of a binding.
//
// In a cluster that has the AWS Load Balancer Controller's CRD installed, the
// API server drops targetGroupARN and targets, silently. What a person must see
// is therefore in the conditions and in events as well.
type TargetGroupBindingStatus struct {
	// ObservedGeneration is the generation of the spec that the status is about.
	// If it is lower than metadata.generation, the status is out of date.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions are Ready and OwnershipConsistent.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// TargetGroupARN is the target group in use: spec.targetGroupARN, or the
	// group found for spec.targetGroupName.
	// +optional
	TargetGroupARN string `json:"targetGroupARN,omitempty"`

	// Targets counts the targets of the binding, as of the last pass that read
	// the ownership records. Unset until then.
	// +optional
	Targets *TargetCounts `json:"targets,omitempty"`
}

// TargetCounts counts targets: address and port, or instance and port.
// Pending, blocked and shared targets are all held as well.
type TargetCounts struct {
	// Held targets are claimed by this binding in the ownership table.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Held int32 `json:"held"`

	// Pending targets are held, but not registered yet: the group is full, the
	// registration was refused, or it is still to be made.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Pending int32 `json:"pending"`

	// Blocked targets are held, but not registered while another owner is taking
	// the same target out.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Blocked int32 `json:"blocked"`

	// Shared targets are held by this binding and by another one, in this
	// cluster or elsewhere. They stay in the group until the last lets go.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Shared int32 `json:"shared"`

	// External targets are registered in the group and in nobody's record:
	// placed by ECS, by hand or by another controller.
	// +optional
	// +kubebuilder:validation:Minimum=0
	External int32 `json:"external"`
}
