package api_test

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// stricter are fields that our schema requires and the users' does not, with
// the reason why no working binding lacks them.
var stricter = map[string]string{
	"spec": "the target group is in it",
}

// Every field that users have is in our schema, with the same type, at least
// the same enum values, and no new duty.
func TestSchemaAcceptsUsersFields(t *testing.T) {
	g := NewWithT(t)
	ours := factsOf(v1beta1Schema(g, readCRD(g, crdFile)))
	for path, theirs := range usersFacts() {
		our, ok := ours[path]
		g.Expect(ok).To(BeTrue(), "%s is missing", path)
		g.Expect(our.Type).To(Equal(theirs.Type), path)
		for _, value := range theirs.Enum {
			g.Expect(our.Enum).To(ContainElement(value), path)
		}
		g.Expect(len(our.Enum) > 0).To(Equal(len(theirs.Enum) > 0), "%s: an enum on one side only", path)
	}
	for path, our := range ours {
		if our.Required && !usersFacts()[path].Required {
			g.Expect(stricter).To(HaveKey(path), "%s is required by our schema only", path)
		}
	}
}

// The facts in testdata are those of the CRD that LBC_CRD names.
func TestFactsAreThoseOfUsersCRD(t *testing.T) {
	path := os.Getenv("LBC_CRD")
	if path == "" {
		t.Skip("LBC_CRD is not set: set it to the file of the AWS Load Balancer Controller's CRD to compare testdata/fields.txt with it")
	}
	g := NewWithT(t)
	g.Expect(cmp.Diff(factsOf(v1beta1Schema(g, readCRD(g, path))), usersFacts())).To(BeEmpty(),
		"- is in the CRD, + is in testdata/fields.txt")
}

func readCRD(g Gomega, path string) *apiextensionsv1.CustomResourceDefinition {
	text, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	g.Expect(yaml.UnmarshalStrict(text, crd)).To(Succeed())
	return crd
}

func v1beta1Schema(g Gomega, crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == "v1beta1"
	})
	g.Expect(i).To(BeNumerically(">=", 0), "%s has no v1beta1", crd.Name)
	return crd.Spec.Versions[i].Schema.OpenAPIV3Schema
}
