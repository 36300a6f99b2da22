package terraform

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/dynblock"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	. "github.com/onsi/gomega"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// inputs are the values of variables, each an expression.
type inputs map[string]string

// evaluate gives the variables and locals of the module values.
func (m *module) evaluate(t *testing.T, given inputs) *hcl.EvalContext {
	t.Helper()
	ctx := m.evaluateVariables(t, given)
	m.evaluateLocals(t, ctx)
	return ctx
}

// evaluateVariables does without the locals, as validations do: the values may
// be wrong.
func (m *module) evaluateVariables(t *testing.T, given inputs) *hcl.EvalContext {
	t.Helper()
	values := map[string]cty.Value{}
	for _, b := range m.ofType("variable") {
		values[b.Labels[0]] = variable(t, b, given)
	}
	for name := range given {
		NewWithT(t).Expect(values).To(HaveKey(name), "%s has no such variable", m.dir)
	}
	return &hcl.EvalContext{Functions: functions, Variables: map[string]cty.Value{"var": cty.ObjectVal(values)}}
}

func variable(t *testing.T, b *hclsyntax.Block, given inputs) cty.Value {
	t.Helper()
	g := NewWithT(t)
	kind, defaults, diags := typeexpr.TypeConstraintWithDefaults(b.Body.Attributes["type"].Expr)
	g.Expect(errorOf(diags)).NotTo(HaveOccurred())
	value := cty.NullVal(kind)
	if source, ok := given[b.Labels[0]]; ok {
		value = parse(t, source)
	} else if _, ok := b.Body.Attributes["default"]; ok {
		value = literal(t, b, "default")
	}
	if defaults != nil && !value.IsNull() {
		value = defaults.Apply(value)
	}
	value, err := convert.Convert(value, kind)
	g.Expect(err).NotTo(HaveOccurred(), "variable %s", b.Labels[0])
	return value
}

func parse(t *testing.T, source string) cty.Value {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(source), "input", hcl.InitialPos)
	NewWithT(t).Expect(errorOf(diags)).NotTo(HaveOccurred())
	value, diags := expr.Value(nil)
	NewWithT(t).Expect(errorOf(diags)).NotTo(HaveOccurred())
	return value
}

// evaluateLocals evaluates each local once those it refers to are.
func (m *module) evaluateLocals(t *testing.T, ctx *hcl.EvalContext) {
	t.Helper()
	left := map[string]hclsyntax.Expression{}
	for _, b := range m.ofType("locals") {
		for name, attribute := range b.Body.Attributes {
			left[name] = attribute.Expr
		}
	}
	values := map[string]cty.Value{}
	for len(left) > 0 {
		before := len(left)
		for name, expr := range left {
			if refersTo(expr, "local", left) {
				continue
			}
			value, diags := expr.Value(ctx)
			NewWithT(t).Expect(errorOf(diags)).NotTo(HaveOccurred())
			values[name] = value
			ctx.Variables["local"] = cty.ObjectVal(values)
			delete(left, name)
		}
		if len(left) == before {
			t.Fatalf("%s: locals refer to each other: %v", m.dir, left)
		}
	}
}

func refersTo[V any](expr hclsyntax.Expression, root string, names map[string]V) bool {
	for _, traversal := range expr.Variables() {
		if _, ok := names[second(traversal)]; ok && traversal.RootName() == root {
			return true
		}
	}
	return false
}

// second is b of a.b.
func second(traversal hcl.Traversal) string {
	if len(traversal) > 1 {
		if attribute, ok := traversal[1].(hcl.TraverseAttr); ok {
			return attribute.Name
		}
	}
	return ""
}

// decode fills in a struct with hcl tags from a block, dynamic blocks expanded.
func decode[T any](t *testing.T, b *hclsyntax.Block, ctx *hcl.EvalContext) T {
	t.Helper()
	var into T
	diags := gohcl.DecodeBody(dynblock.Expand(b.Body, ctx), ctx, &into)
	NewWithT(t).Expect(errorOf(diags)).NotTo(HaveOccurred())
	return into
}

// rule is a validation or a precondition.
type rule struct {
	Condition bool   `hcl:"condition"`
	Message   string `hcl:"error_message"`
}

// refusals are the messages of the rules, in blocks of a type, that do not hold.
func refusals(t *testing.T, blocks hclsyntax.Blocks, kind string, ctx *hcl.EvalContext) []string {
	t.Helper()
	var messages []string
	for _, b := range blocks {
		if b.Type != kind {
			continue
		}
		if r := decode[rule](t, b, ctx); !r.Condition {
			messages = append(messages, r.Message)
		}
	}
	return messages
}

// functions are those of Terraform and OpenTofu that the modules use.
var functions = map[string]function.Function{
	"alltrue":    ofList(func(value cty.Value) cty.Value { return cty.BoolVal(allTrue(value)) }, cty.Bool),
	"can":        tryfunc.CanFunc,
	"coalesce":   stdlib.CoalesceFunc,
	"concat":     stdlib.ConcatFunc,
	"floor":      stdlib.FloorFunc,
	"join":       stdlib.JoinFunc,
	"keys":       stdlib.KeysFunc,
	"length":     ofList(length, cty.Number),
	"lower":      stdlib.LowerFunc,
	"regex":      stdlib.RegexFunc,
	"split":      stdlib.SplitFunc,
	"startswith": startsWith,
}

// ofList is a function of one value, which cty's own library lacks or has
// for fewer types.
func ofList(compute func(cty.Value) cty.Value, result cty.Type) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(result),
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return compute(args[0]), nil },
	})
}

func allTrue(list cty.Value) bool {
	for _, value := range list.AsValueSlice() {
		if !value.True() {
			return false
		}
	}
	return true
}

func length(value cty.Value) cty.Value {
	if value.Type() == cty.String {
		return cty.NumberIntVal(int64(len(value.AsString())))
	}
	return value.Length()
}

var startsWith = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: "prefix", Type: cty.String}},
	Type:   function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return cty.BoolVal(strings.HasPrefix(args[0].AsString(), args[1].AsString())), nil
	},
})
