package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const aboutConditions = `# Conditions and events

Of a TargetGroupBinding: ` + "`kubectl describe targetgroupbinding NAME`" + ` shows both. [troubleshooting.md](../troubleshooting.md) says what to do.

`

const aboutEvents = `
## Events

One is made when a trouble begins and one when it has ended, with the reason of Ready: of type Warning, and Normal for the end. Reasons that come and go with the targets (Reconciled, NetworkingNotManaged, Limited, Pending, Blocked, HandingOver) make none among themselves. Besides there are:

`

const aboutAnnotations = `
## Events of Services and Ingresses

They are about bindings from [annotations](../annotations.md).
`

func conditions(root string) (string, error) {
	reasons, err := meanings("##", filepath.Join(root, "controller", "api", "v1beta1", "conditions.go"))
	if err != nil {
		return "", err
	}
	events, err := events(filepath.Join(root, "controller"))
	if err != nil {
		return "", err
	}
	annotations, err := meanings("###", filepath.Join(root, "controller", "managed", "reasons.go"))
	if err != nil {
		return "", err
	}
	return aboutConditions + reasons + aboutEvents + table("reason", "type", "message") + strings.Join(events, "") +
		aboutAnnotations + "\n" + annotations, nil
}

// meanings are the constants of a file, with a heading for each declaration.
func meanings(level, path string) (string, error) {
	file, err := parse(path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, group := range constants(file) {
		if len(group.values) == 0 {
			continue
		}
		title, more, _ := strings.Cut(strings.TrimSuffix(group.doc, "."), ". ")
		fmt.Fprintf(&b, "%s %s\n\n", level, cmp.Or(title, "Types"))
		if more != "" {
			fmt.Fprintf(&b, "%s.\n\n", more)
		}
		b.WriteString(table("value", "meaning"))
		for _, v := range group.values {
			b.WriteString(row(code(v.value), v.doc))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

type group struct {
	doc    string
	values []constant
}

type constant struct{ value, doc string }

func parse(path string) (*ast.File, error) {
	return parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
}

// constants are the string constants of a file by declaration, each with the
// comment above it, in which its value stands for its name.
func constants(file *ast.File) []group {
	var groups []group
	for _, d := range file.Decls {
		declared, is := d.(*ast.GenDecl)
		if !is || declared.Tok != token.CONST {
			continue
		}
		g := group{doc: line(declared.Doc)}
		for _, spec := range declared.Specs {
			value, is := spec.(*ast.ValueSpec)
			if !is || len(value.Values) == 0 {
				continue
			}
			if literal, is := value.Values[0].(*ast.BasicLit); is && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value)
				g.values = append(g.values, constant{text, meaning(line(value.Doc), value.Names[0].Name, text)})
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// meaning is a comment without the name at its beginning, and with the values
// of others in place of their names.
func meaning(doc, name, value string) string {
	if rest, cut := strings.CutPrefix(doc, name+": "); cut {
		doc = strings.ToUpper(rest[:1]) + rest[1:]
	}
	doc = strings.ReplaceAll(doc, name, value)
	return strings.NewReplacer("ReasonReconciled", "Reconciled", "ConditionReady", "Ready").Replace(doc)
}

func line(doc *ast.CommentGroup) string { return strings.Join(strings.Fields(doc.Text()), " ") }

// events are the rows of events whose reason is written out where they are
// made.
func events(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parse(path)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if r := event(n); r != "" {
				rows = append(rows, r)
			}
			return true
		})
	}
	if len(rows) == 0 {
		return nil, errors.New("no event is made with a reason that is written out")
	}
	slices.Sort(rows)
	return slices.Compact(rows), nil
}

// event is for Eventf(regarding, related, type, reason, action, note, args...).
func event(n ast.Node) string {
	call, is := n.(*ast.CallExpr)
	if !is || len(call.Args) < 6 {
		return ""
	}
	called, is := call.Fun.(*ast.SelectorExpr)
	reason, written := call.Args[3].(*ast.BasicLit)
	if !is || called.Sel.Name != "Eventf" || !written {
		return ""
	}
	note, _ := call.Args[5].(*ast.BasicLit)
	kind, _ := call.Args[2].(*ast.SelectorExpr)
	if note == nil || kind == nil {
		return ""
	}
	name, _ := strconv.Unquote(reason.Value)
	text, _ := strconv.Unquote(note.Value)
	return row(code(name), strings.TrimPrefix(kind.Sel.Name, "EventType"), strings.ReplaceAll(text, "%s", "…"))
}
