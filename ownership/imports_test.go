package ownership_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = ".."
	module = "target-ownership-controller/"
)

// The core says what is right whatever cluster, cloud or database it runs
// with, so it knows none of them.
func TestTheCoreImportsTheStandardLibraryOnly(t *testing.T) {
	allowed := map[string][]string{
		"ownership":         nil,
		"ownership/plan":    {"ownership"},
		"ownership/pass":    {"ownership", "ownership/plan", "ownership/history"},
		"ownership/admin":   {"ownership", "ownership/plan", "ownership/pass", "ownership/history"},
		"ownership/memory":  {"ownership", "ownership/history"},
		"ownership/history": {"ownership"},
	}
	for dir, may := range allowed {
		files := 0
		for _, name := range sources(t, filepath.Join(root, dir)) {
			if filepath.Dir(name) != filepath.Join(root, dir) {
				continue // a package of its own
			}
			files++
			for _, spec := range parse(t, name).Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				own, ours := strings.CutPrefix(path, module)
				first, _, _ := strings.Cut(path, "/")
				if ours && !slices.Contains(may, own) || !ours && strings.Contains(first, ".") {
					t.Errorf("%s imports %s", name, path)
				}
			}
		}
		if files == 0 {
			t.Errorf("no source in %s", dir)
		}
	}
}

// Everything that takes a target out of a group goes through one function,
// which asks for a Removal.
func TestOneFileDeregisters(t *testing.T) {
	const only = root + "/controller/elb/deregister.go"
	// The parts that answer such calls, and the tests that make them, are no
	// part of the controller.
	apart := root + "/test/"
	calls := map[string]int{}
	for _, name := range sources(t, root) {
		if strings.HasPrefix(name, apart) {
			continue
		}
		ast.Inspect(parse(t, name), func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "DeregisterTargets" {
				calls[name]++
			}
			return true
		})
	}
	if calls[only] != 1 || len(calls) != 1 {
		t.Errorf("DeregisterTargets is used in %v, want once, in %s", calls, only)
	}
}

// sources are the Go files under dir, without tests.
func sources(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != dir && (strings.HasPrefix(entry.Name(), ".") || name == filepath.Join(root, "bin")):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func parse(t *testing.T, name string) *ast.File {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
