package lean

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// condition holds if all of its clauses do.
type condition []clause

// clause compares an attribute, as it is spelled, with a value.
type clause struct {
	name     string
	operator string // =, >= of strings, or empty: the attribute must not be there
	value    json.RawMessage
}

// written is a clause as the expression builder of the SDK writes it.
var written = regexp.MustCompile(`^(?:attribute_not_exists \((#\w+)\)|(#\w+) (=|>=) (:\w+))$`)

// condition reads an expression. One that it cannot read is refused: else it
// would hold for everything or for nothing.
func (r request) condition(expression string) (condition, *refusal) {
	if expression == "" {
		return nil, nil
	}
	parts := []string{expression}
	if inner, ok := strings.CutPrefix(expression, "("); ok {
		parts = strings.Split(strings.TrimSuffix(inner, ")"), ") AND (")
	}
	var c condition
	for _, part := range parts {
		m := written.FindStringSubmatch(part)
		if m == nil {
			return nil, invalid("not an expression that is supported: " + expression)
		}
		next := clause{r.ExpressionAttributeNames[m[1]+m[2]], m[3], r.ExpressionAttributeValues[m[4]]}
		if next.name == "" || (next.operator != "") != (next.value != nil) {
			return nil, invalid("a name or value of the expression is not defined: " + expression)
		}
		c = append(c, next)
	}
	return c, nil
}

func (c condition) of(i item) bool {
	for _, clause := range c {
		if !clause.of(i) {
			return false
		}
	}
	return true
}

func (c clause) of(i item) bool {
	value, found := i[c.name]
	switch c.operator {
	case "":
		return !found
	case "=":
		return bytes.Equal(value, c.value)
	default:
		return i.text(c.name) >= (item{c.name: c.value}).text(c.name)
	}
}

// hash is the hash key that a query asks for.
func (c condition) hash(by keys) (string, *refusal) {
	for _, clause := range c {
		if clause.name == by.hash && clause.operator == "=" {
			return (item{clause.name: clause.value}).text(clause.name), nil
		}
	}
	return "", invalid("Query condition missed key schema element: " + by.hash)
}
