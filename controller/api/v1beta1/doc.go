// Package v1beta1 holds the Kubernetes API of the controller: the kind
// TargetGroupBinding, which binds a port of a Service to an ELBv2 target
// group.
//
// The group, the kind and the fields of the spec are those that users of the
// AWS Load Balancer Controller have in their manifests today, so that these
// apply unchanged. What that controller checks in admission webhooks is checked
// here by the API server itself, with CEL rules in the CRD, as far as that is
// possible without calling AWS; docs/decisions/0002-crd-versions.md lists the
// rules and what the API server does with stored objects that break one.
//
// Two conventions matter to whoever writes a rule:
//
//   - An empty string means unset, in every optional string of the spec.
//   - Rules stand on the spec or on a field of it, never on the whole object: the
//     API server forgives a broken rule only while the value that the rule stands
//     on is unchanged, and a binding that breaks a rule must still accept
//     status, finalizers and its own deletion.
//
// +kubebuilder:object:generate=true
// +groupName=elbv2.k8s.aws
package v1beta1

//go:generate ../../../bin/controller-gen object paths=.
//go:generate ../../../bin/controller-gen crd paths=../... output:crd:dir=../../../charts/target-ownership-controller/files/crds
