package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TargetGroupBinding is no longer served in this version; use
// elbv2.k8s.aws/v1beta1. The schema keeps every stored field, so that reading
// an old object through v1beta1 loses nothing.
//
// +kubebuilder:unservedversion
// +kubebuilder:pruning:PreserveUnknownFields
type TargetGroupBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
