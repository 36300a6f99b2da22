//go:build rbac_annotations

package managed

// What bindings from annotations need beyond the rules of the controller.
// Installations without them do not get these rules, so that they stand in a
// file of their own: no program is built with this tag.
//
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses;ingressclasses,verbs=get;list;watch
// +kubebuilder:rbac:groups=elbv2.k8s.aws,resources=targetgroupbindings,verbs=create;delete
// +kubebuilder:rbac:groups=ownership.elbv2.k8s.aws,resources=sharedtargetgroupbindings,verbs=create;delete
