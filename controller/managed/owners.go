package managed

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A binding has as owners all that ask for it: the first is its controller and
// decides on what the name leaves open. It goes with its last owner.

// reference makes an owner of an object. It does not block the deletion of the
// owner, which would need permissions on finalizers of Services and Ingresses.
func reference(owner client.Object, of schema.GroupVersionKind) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: of.GroupVersion().String(), Kind: of.Kind, Name: owner.GetName(), UID: owner.GetUID()}
}

// ours reports whether a binding is one that this package made.
func ours(b client.Object, owner client.Object) bool {
	return b.GetLabels()[ManagedLabel] == "true" || metav1.IsControlledBy(b, owner)
}

// join makes the object an owner, in the place of an earlier object of the same
// kind and name, and the controller if there is none.
func join(b client.Object, ref metav1.OwnerReference) {
	refs := slices.Clone(b.GetOwnerReferences())
	refs = slices.DeleteFunc(refs, func(r metav1.OwnerReference) bool {
		return r.Kind == ref.Kind && r.APIVersion == ref.APIVersion && r.Name == ref.Name && r.UID != ref.UID
	})
	if !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == ref.UID }) {
		refs = append(refs, ref)
	}
	if !slices.ContainsFunc(refs, controls) {
		i := slices.IndexFunc(refs, func(r metav1.OwnerReference) bool { return r.UID == ref.UID })
		refs[i].Controller = new(true)
	}
	b.SetOwnerReferences(refs)
}

// part takes the object from the owners. It reports whether there are others,
// of whom the next that has its turn becomes the controller.
func part(b client.Object, owner client.Object) bool {
	refs := slices.DeleteFunc(slices.Clone(b.GetOwnerReferences()), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
	b.SetOwnerReferences(refs)
	return len(refs) > 0
}

func controls(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }
