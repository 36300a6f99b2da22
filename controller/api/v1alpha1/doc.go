// Package v1alpha1 keeps the oldest version of TargetGroupBinding listed in
// the generated CRD, without serving it.
//
// A cluster that once stored v1alpha1 objects has that version in the CRD's
// status.storedVersions, and the API server refuses a CRD that no longer lists
// it. Objects that etcd still holds in this version are read through v1beta1.
// See docs/decisions/0002-crd-versions.md.
//
// +groupName=elbv2.k8s.aws
package v1alpha1
