package kind_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
)

// An owner's name leads back to its binding, and to none of another kind.
func TestOwnersOfAllKindsAreApart(t *testing.T) {
	g := NewWithT(t)
	for _, k := range kind.All {
		name, ok := k.Of(k.Owner("web"))
		g.Expect(ok).To(BeTrue(), k.Name)
		g.Expect(name).To(Equal("web"))
		for _, other := range kind.All {
			if _, ok := other.Of(k.Owner("web")); other.Name != k.Name {
				g.Expect(ok).To(BeFalse(), "a %s taken for a %s", k.Name, other.Name)
			}
		}
	}
	g.Expect(kind.TargetGroupBinding.Owner("web")).To(Equal("web"), "as in every record written so far")
}

// What people are told to type is about the right kind.
func TestOwnersAreNamedAsKubectlNamesThem(t *testing.T) {
	g := NewWithT(t)
	for _, k := range kind.All {
		resource, name := ownership.Owner{Cluster: "east", Namespace: "shop", Name: k.Owner("web")}.Object()
		g.Expect(resource+"s").To(Equal(k.Resource), "kubectl knows the singular too")
		g.Expect(name).To(Equal("web"))
	}
}

// A view is the object itself.
func TestABindingSharesTheMemoryOfItsObject(t *testing.T) {
	g := NewWithT(t)
	for _, k := range kind.All {
		object := k.New()
		k.Binding(object).Name = "web"
		g.Expect(object.GetName()).To(Equal("web"), k.Name)
		found, err := kind.Parse(k.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found.Resource).To(Equal(k.Resource))
	}
	_, err := kind.Parse("Ingress")
	g.Expect(err).To(MatchError(`"Ingress" is not TargetGroupBinding or SharedTargetGroupBinding`))
}
