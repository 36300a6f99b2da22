package api_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

//go:embed testdata/fields.txt
var fieldsText string

// field is what a schema says about one of its fields.
type field struct {
	Type     string
	Required bool
	Enum     []string // sorted
}

// facts are the fields of a schema by their path, as in spec.serviceRef.port.
type facts map[string]field

// usersFacts are the facts written down in testdata.
func usersFacts() facts {
	all := facts{}
	for line := range strings.Lines(fieldsText) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		path, required := strings.CutSuffix(words[0], "!")
		all[path] = field{Type: words[1], Required: required, Enum: words[2:]}
	}
	return all
}

// factsOf flattens a schema, without the fields that every object has.
func factsOf(root *apiextensionsv1.JSONSchemaProps) facts {
	all := facts{}
	for _, name := range []string{"spec", "status"} {
		all.add(name, new(root.Properties[name]), slices.Contains(root.Required, name))
	}
	return all
}

func (f facts) add(path string, s *apiextensionsv1.JSONSchemaProps, required bool) {
	f[path] = field{Type: typeOf(s), Required: required, Enum: enumOf(s)}
	if s.Items != nil {
		f.add(path+"[]", s.Items.Schema, false)
	}
	if s.AdditionalProperties != nil {
		f.add(path+"{}", s.AdditionalProperties.Schema, false)
	}
	for name, property := range s.Properties {
		f.add(path+"."+name, &property, slices.Contains(s.Required, name))
	}
}

func typeOf(s *apiextensionsv1.JSONSchemaProps) string {
	if s.XIntOrString {
		return "int-or-string"
	}
	return s.Type
}

func enumOf(s *apiextensionsv1.JSONSchemaProps) []string {
	values := []string{}
	for _, value := range s.Enum {
		values = append(values, strings.Trim(string(value.Raw), `"`))
	}
	slices.Sort(values)
	return values
}

// schema is the reverse of factsOf.
func (f facts) schema() *apiextensionsv1.JSONSchemaProps {
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, name := range []string{"spec", "status"} {
		root.Properties[name] = *f.schemaAt(name)
	}
	return root
}

func (f facts) schemaAt(path string) *apiextensionsv1.JSONSchemaProps {
	s := &apiextensionsv1.JSONSchemaProps{Type: f[path].Type}
	if f[path].Type == "int-or-string" {
		s.Type, s.XIntOrString = "", true
	}
	for _, value := range f[path].Enum {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(fmt.Sprintf("enum of %s: %v", path, err))
		}
		s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: raw})
	}
	if _, ok := f[path+"[]"]; ok {
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: f.schemaAt(path + "[]")}
	}
	if _, ok := f[path+"{}"]; ok {
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: f.schemaAt(path + "{}")}
	}
	for _, child := range slices.Sorted(maps.Keys(f)) {
		name, ok := strings.CutPrefix(child, path+".")
		if !ok || strings.ContainsAny(name, ".[{") {
			continue
		}
		if s.Properties == nil {
			s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		s.Properties[name] = *f.schemaAt(child)
		if f[child].Required {
			s.Required = append(s.Required, name)
		}
	}
	return s
}
