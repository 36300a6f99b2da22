package terraform

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	. "github.com/onsi/gomega"
	"github.com/zclconf/go-cty/cty"
)

// testdata has links to directories of the repository, not ".." in paths: go
// test runs a cached test again only for changes that it sees in this module.
const modulesDir = "testdata/terraform/"

// module is a directory of .tf files.
type module struct {
	dir     string
	sources map[string][]byte // by path
	blocks  []*hclsyntax.Block
}

func load(t *testing.T, dir string) *module {
	t.Helper()
	g := NewWithT(t)
	m := &module{dir: dir, sources: map[string][]byte{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).NotTo(BeEmpty(), "%s has no .tf files", dir)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		file, diags := hclsyntax.ParseConfig(source, path, hcl.InitialPos)
		g.Expect(errorOf(diags)).NotTo(HaveOccurred())
		m.sources[path] = source
		m.blocks = append(m.blocks, file.Body.(*hclsyntax.Body).Blocks...)
	}
	return m
}

// modules are all directories with .tf files.
func modules(t *testing.T) []*module {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(modulesDir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".tf" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	slices.Sort(dirs)
	var all []*module
	for _, dir := range slices.Compact(dirs) {
		all = append(all, load(t, dir))
	}
	NewWithT(t).Expect(all).To(HaveLen(3))
	return all
}

func (m *module) ofType(kind string) []*hclsyntax.Block {
	var found []*hclsyntax.Block
	for _, b := range m.blocks {
		if b.Type == kind {
			found = append(found, b)
		}
	}
	return found
}

// block is the one of that type and those labels.
func (m *module) block(t *testing.T, kind string, labels ...string) *hclsyntax.Block {
	t.Helper()
	for _, b := range m.ofType(kind) {
		if slices.Equal(b.Labels, labels) {
			return b
		}
	}
	t.Fatalf("%s has no %s %q", m.dir, kind, labels)
	return nil
}

// literal is the value of an attribute that refers to nothing.
func literal(t *testing.T, b *hclsyntax.Block, name string) cty.Value {
	t.Helper()
	attribute, ok := b.Body.Attributes[name]
	if !ok {
		t.Fatalf("%s: %s %q has no %s", b.DefRange(), b.Type, b.Labels, name)
	}
	value, diags := attribute.Expr.Value(nil)
	NewWithT(t).Expect(errorOf(diags)).NotTo(HaveOccurred())
	return value
}

func errorOf(diags hcl.Diagnostics) error {
	if diags.HasErrors() {
		return diags
	}
	return nil
}
