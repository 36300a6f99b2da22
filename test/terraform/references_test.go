package terraform

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	. "github.com/onsi/gomega"
)

// reference is a traversal such as var.name, and where it is.
type reference struct {
	path  []string // its names up to the first index
	where hcl.Range
	block *hclsyntax.Block // the outermost one
}

// name is what is declared: a.b, or a.b.c for data.
func (r reference) name() string {
	n := 2
	if r.path[0] == "data" {
		n = 3
	}
	return joined(r.path[:min(n, len(r.path))]...)
}

func joined(parts ...string) string { return strings.Join(parts, ".") }

// references are those of all expressions but types, less the names that
// dynamic blocks bring.
func (m *module) references() []reference {
	var all []reference
	for _, b := range m.blocks {
		collect(b, b.Body, []string{"each"}, &all)
	}
	return all
}

func collect(outermost *hclsyntax.Block, body *hclsyntax.Body, bound []string, all *[]reference) {
	for _, attribute := range body.Attributes {
		if attribute.Name == "type" && outermost.Type == "variable" || attribute.Name == "ignore_changes" {
			continue
		}
		for _, traversal := range attribute.Expr.Variables() {
			if !slices.Contains(bound, traversal.RootName()) {
				*all = append(*all, reference{names(traversal), traversal.SourceRange(), outermost})
			}
		}
	}
	for _, b := range body.Blocks {
		inner := bound
		if b.Type == "dynamic" {
			inner = append(slices.Clone(bound), b.Labels[0])
		}
		collect(outermost, b.Body, inner, all)
	}
}

func names(traversal hcl.Traversal) []string {
	path := []string{traversal.RootName()}
	for _, step := range traversal[1:] {
		attribute, ok := step.(hcl.TraverseAttr)
		if !ok {
			break
		}
		path = append(path, attribute.Name)
	}
	return path
}

// declared are the names that references may have.
func (m *module) declared() []string {
	var all []string
	for _, b := range m.blocks {
		switch b.Type {
		case "variable":
			all = append(all, joined("var", b.Labels[0]))
		case "locals":
			for name := range b.Body.Attributes {
				all = append(all, joined("local", name))
			}
		case "resource":
			all = append(all, joined(b.Labels...))
		case "data", "module":
			all = append(all, joined(append([]string{b.Type}, b.Labels...)...))
		}
	}
	return all
}

func TestEveryReferenceIsDeclared(t *testing.T) {
	for _, m := range modules(t) {
		declared := m.declared()
		for _, r := range m.references() {
			NewWithT(t).Expect(declared).To(ContainElement(r.name()), "%s", r.where)
		}
	}
}

// TestNothingIsDeclaredInVain knows one exception: the variable that only
// exists to be refused.
func TestNothingIsDeclaredInVain(t *testing.T) {
	for _, m := range modules(t) {
		used := []string{"var.replicas"}
		for _, r := range m.references() {
			if r.block.Type != "variable" {
				used = append(used, r.name())
			}
		}
		for _, name := range m.declared() {
			switch root, _, _ := strings.Cut(name, "."); root {
			case "var", "local", "data": // resources and modules do something by themselves
				NewWithT(t).Expect(used).To(ContainElement(name), "%s: nothing uses it", m.dir)
			}
		}
	}
}

// TestModulesAreCalledAsTheyAre compares the arguments and outputs of each
// module block with the module that it names.
func TestModulesAreCalledAsTheyAre(t *testing.T) {
	for _, m := range modules(t) {
		for _, call := range m.ofType("module") {
			callee := load(t, filepath.Join(m.dir, literal(t, call, "source").AsString()))
			arguments := []string{"source"}
			for _, b := range callee.ofType("variable") {
				name := b.Labels[0]
				arguments = append(arguments, name)
				_, optional := b.Body.Attributes["default"]
				_, given := call.Body.Attributes[name]
				NewWithT(t).Expect(given || optional).To(BeTrue(), "module %s needs %s", call.Labels[0], name)
			}
			for name := range call.Body.Attributes {
				NewWithT(t).Expect(arguments).To(ContainElement(name), "module %s", call.Labels[0])
			}
			for _, r := range m.references() {
				if r.name() == joined("module", call.Labels[0]) {
					callee.block(t, "output", r.path[2])
				}
			}
		}
	}
}
