// Package v1beta1 holds the kind SharedTargetGroupBinding, for clusters in
// which the AWS Load Balancer Controller stays at work on its
// TargetGroupBindings.
//
// The kind has an API group of its own, which that controller does not watch.
// The spec and the status are those of TargetGroupBinding, and so is the order
// of the fields: the two types convert into each other.
//
// +kubebuilder:object:generate=true
// +groupName=ownership.elbv2.k8s.aws
package v1beta1

//go:generate ../../../../bin/controller-gen object paths=.
