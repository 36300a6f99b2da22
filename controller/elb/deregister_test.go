package elb_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

func TestDeregister(t *testing.T) {
	g, api := NewWithT(t), newFake()
	targets := addresses(450)
	for _, target := range targets {
		api.targets[string(target)] = types.TargetHealthStateEnumHealthy
	}
	api.targets["10.9.9.9:8080"] = types.TargetHealthStateEnumHealthy
	_, removal := permits(t, nil, targets)
	result := elb.New(api, elb.Options{Limits: roomy}).Deregister(context.Background(), removal)

	g.Expect(result.Done).To(Equal(targets))
	g.Expect(api.sizes()).To(Equal([]int{200, 200, 50}))
	g.Expect(api.targets).To(HaveLen(1))
	g.Expect(api.targets).To(HaveKey("10.9.9.9:8080"))
}

func TestDeregisterFailure(t *testing.T) {
	g, api := NewWithT(t), newFake()
	api.before = always(answered(503, "ServiceUnavailable"))
	targets := addresses(201)
	_, removal := permits(t, nil, targets)
	result := elb.New(api, elb.Options{Limits: roomy}).Deregister(context.Background(), removal)

	g.Expect(result.Unsure).To(HaveLen(200))
	g.Expect(result.Refused).To(HaveLen(1))
	g.Expect(result.Refused[targets[200]]).To(MatchError(ownership.ErrGroupUnavailable))
	g.Expect(api.calls).To(HaveLen(1))
}

// A permission is worth nothing if another way to deregister exists.
func TestOneFileDeregisters(t *testing.T) {
	g := NewWithT(t)
	root := filepath.Join("..", "..")
	var callers []string
	g.Expect(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path == filepath.Join(root, "test") || strings.HasPrefix(entry.Name(), ".git")):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "DeregisterTargets" {
				callers = append(callers, filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator))))
			}
			return true
		})
		return nil
	})).To(Succeed())
	g.Expect(callers).To(Equal([]string{"controller/elb/deregister.go"}))
}
