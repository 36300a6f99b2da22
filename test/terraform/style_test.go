package terraform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
	. "github.com/onsi/gomega"
)

func TestFilesAreFormatted(t *testing.T) {
	for _, m := range modules(t) {
		for path, source := range m.sources {
			NewWithT(t).Expect(string(source)).To(Equal(string(hclwrite.Format(source))), "%s: run terraform fmt or tofu fmt", path)
		}
	}
}

func TestVariablesAndOutputsAreDescribed(t *testing.T) {
	for _, m := range modules(t) {
		readme, err := os.ReadFile(filepath.Join(m.dir, "README.md"))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		for _, kind := range []string{"variable", "output"} {
			for _, b := range m.ofType(kind) {
				g := NewWithT(t)
				g.Expect(literal(t, b, "description").AsString()).To(HaveSuffix("."), "%s %s", kind, b.Labels[0])
				if kind == "variable" {
					g.Expect(b.Body.Attributes).To(HaveKey("type"), b.Labels[0])
				}
				g.Expect(string(readme)).To(ContainSubstring("`"+b.Labels[0]+"`"), "the module's README.md does not name it")
			}
		}
	}
}
