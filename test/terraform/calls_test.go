package terraform

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	project    = "target-ownership-controller"
	sdk        = "github.com/aws/aws-sdk-go-v2/service/"
	dynamoPath = project + "/ownership/dynamo"
)

// prefixes are those of IAM actions, by package of the SDK.
var prefixes = map[string]string{
	"dynamodb":               "dynamodb",
	"elasticloadbalancingv2": "elasticloadbalancing",
	"sts":                    "sts",
}

// free needs no permission
// (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
const free = "sts:GetCallerIdentity"

// notTheControllers are functions that create a table, for people and tests.
// A test sees to it that no package of the controller calls them.
var notTheControllers = []string{"Create", "expire", "createInput"}

// calls are the AWS operations in the code of the controller.
type calls struct {
	actions     []string // IAM actions, sorted
	queryIndex  bool     // some Query names an index
	createCalls []string // uses of dynamo.Create
}

// controllerCalls finds an operation by its input: to call RegisterTargets
// there has to be a RegisterTargetsInput.
func controllerCalls(t *testing.T) calls {
	t.Helper()
	var found calls
	for _, dir := range controllerPackages(t) {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.go"))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		for _, p := range paths {
			if !strings.HasSuffix(p, "_test.go") {
				found.addFile(t, p)
			}
		}
	}
	slices.Sort(found.actions)
	found.actions = slices.Compact(found.actions)
	return found
}

// controllerPackages are the directories, in the project, of its packages that
// the controller is built from.
func controllerPackages(t *testing.T) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", project+"/cmd/controller")
	out, err := list.Output()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var dirs []string
	for _, imported := range strings.Fields(string(out)) {
		if dir, ok := strings.CutPrefix(imported, project+"/"); ok {
			dirs = append(dirs, dir)
		}
	}
	NewWithT(t).Expect(dirs).To(ContainElements("cmd/controller", "controller/elb", "ownership/dynamo"))
	return dirs
}

func (c *calls) addFile(t *testing.T, file string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	imported := map[string]string{} // path by name in the file
	for _, spec := range parsed.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = p
	}
	isDynamo := strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "ownership/dynamo")
	for _, declared := range parsed.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok && isDynamo && slices.Contains(notTheControllers, f.Name.Name) {
			continue
		}
		ast.Inspect(declared, func(node ast.Node) bool { return c.add(t, node, imported) })
	}
}

// add reports whether to look inside the node.
func (c *calls) add(t *testing.T, node ast.Node, imported map[string]string) bool {
	switch node := node.(type) {
	case *ast.FuncType: // as in an interface: nothing is called
		return false
	case *ast.CompositeLit:
		for _, element := range node.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				key, isName := pair.Key.(*ast.Ident)
				c.queryIndex = c.queryIndex || isName && key.Name == "IndexName"
			}
		}
	case *ast.SelectorExpr:
		c.addName(t, node, imported)
	}
	return true
}

func (c *calls) addName(t *testing.T, node *ast.SelectorExpr, imported map[string]string) {
	qualifier, ok := node.X.(*ast.Ident)
	if !ok {
		return
	}
	if imported[qualifier.Name] == dynamoPath && node.Sel.Name == "Create" {
		c.createCalls = append(c.createCalls, qualifier.Name+".Create")
	}
	service, isSDK := strings.CutPrefix(imported[qualifier.Name], sdk)
	operation, isInput := strings.CutSuffix(node.Sel.Name, "Input")
	if !isSDK || !isInput {
		return
	}
	prefix, known := prefixes[service]
	NewWithT(t).Expect(known).To(BeTrue(), "the IAM prefix of %s is not in this test", service)
	c.actions = append(c.actions, prefix+":"+operation)
}
