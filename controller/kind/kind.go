// Package kind tells the kinds of bindings apart. They have one spec and one
// status, so that one reconciler serves them all.
package kind

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	shared "target-ownership-controller/controller/api/shared/v1beta1"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// Kind is a kind of binding. The zero value is none.
type Kind struct {
	Name    string
	Version schema.GroupVersion
	// Resource is the name of the kind in URLs and in RBAC rules.
	Resource string
	// Shared kinds have no exclusive bindings.
	Shared bool
	// AddToScheme makes the kind known to a scheme.
	AddToScheme func(*runtime.Scheme) error

	owners   string // what the names of its owners begin with
	empty    func() client.Object
	view     func(client.Object) *v1beta1.TargetGroupBinding
	listing  func() client.ObjectList
	elements func(client.ObjectList) []client.Object
}

var (
	// TargetGroupBinding is the kind that the AWS Load Balancer Controller has
	// too: only one of the two controllers can work on it.
	TargetGroupBinding = Kind{
		Name: "TargetGroupBinding", Version: v1beta1.GroupVersion, Resource: "targetgroupbindings",
		AddToScheme: v1beta1.AddToScheme,
		empty:       func() client.Object { return &v1beta1.TargetGroupBinding{} },
		view:        func(o client.Object) *v1beta1.TargetGroupBinding { return o.(*v1beta1.TargetGroupBinding) },
		listing:     func() client.ObjectList { return &v1beta1.TargetGroupBindingList{} },
		elements: func(l client.ObjectList) []client.Object {
			return pointers[*v1beta1.TargetGroupBinding](l.(*v1beta1.TargetGroupBindingList).Items)
		},
	}
	// SharedTargetGroupBinding is the kind that works beside that controller.
	SharedTargetGroupBinding = Kind{
		Name: "SharedTargetGroupBinding", Version: shared.GroupVersion, Resource: "sharedtargetgroupbindings",
		Shared: true, AddToScheme: shared.AddToScheme,
		owners: ownership.SharedPrefix,
		empty:  func() client.Object { return &shared.SharedTargetGroupBinding{} },
		view: func(o client.Object) *v1beta1.TargetGroupBinding {
			return (*v1beta1.TargetGroupBinding)(o.(*shared.SharedTargetGroupBinding))
		},
		listing: func() client.ObjectList { return &shared.SharedTargetGroupBindingList{} },
		elements: func(l client.ObjectList) []client.Object {
			return pointers[*shared.SharedTargetGroupBinding](l.(*shared.SharedTargetGroupBindingList).Items)
		},
	}
)

// All are the kinds that there are.
var All = []Kind{TargetGroupBinding, SharedTargetGroupBinding}

// Parse finds a kind by its name.
func Parse(name string) (Kind, error) {
	i := slices.IndexFunc(All, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, fmt.Errorf("%q is not %s or %s", name, TargetGroupBinding.Name, SharedTargetGroupBinding.Name)
	}
	return All[i], nil
}

// New returns an empty object of the kind.
func (k Kind) New() client.Object { return k.empty() }

// Binding returns an object of the kind as a TargetGroupBinding, in the same
// memory: what is changed in one is changed in the other. It panics on an
// object of another kind.
func (k Kind) Binding(o client.Object) *v1beta1.TargetGroupBinding { return k.view(o) }

// NewList returns an empty list of the kind.
func (k Kind) NewList() client.ObjectList { return k.listing() }

// Items returns the objects of a list of the kind, in its memory. It panics on
// a list of another kind.
func (k Kind) Items(l client.ObjectList) []client.Object { return k.elements(l) }

// Owner returns the name under which a binding of the kind stands in the
// ownership table. It tells the kinds apart, since no object of Kubernetes has
// a colon in its name.
func (k Kind) Owner(name string) string { return k.owners + name }

// Of returns the name of the binding that stands in the ownership table under
// the name of an owner, if it is one of this kind.
func (k Kind) Of(owner string) (name string, ok bool) {
	if k.owners != "" {
		return strings.CutPrefix(owner, k.owners)
	}
	return owner, !strings.Contains(owner, ":")
}

// pointers returns pointers into a slice.
func pointers[P interface {
	*T
	client.Object
}, T any](items []T) []client.Object {
	out := make([]client.Object, len(items))
	for i := range items {
		out[i] = P(&items[i])
	}
	return out
}
