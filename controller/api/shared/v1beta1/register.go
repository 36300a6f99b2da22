package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of every type in this package.
var GroupVersion = schema.GroupVersion{Group: "ownership.elbv2.k8s.aws", Version: "v1beta1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme makes the types of this package known to a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &SharedTargetGroupBinding{}, &SharedTargetGroupBindingList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
