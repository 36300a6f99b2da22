package dynamo

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	. "github.com/onsi/gomega"
)

// The sizes follow from the rules that AWS publishes, worked out by hand.
func TestItemSize(t *testing.T) {
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	m := func(v item) types.AttributeValue { return &types.AttributeValueMemberM{Value: v} }
	for name, c := range map[string]struct {
		item item
		want int
	}{
		"name and text":              {item{"owner": s("a/b/c")}, 5 + 5},
		"text counts bytes":          {item{"x": s("é")}, 1 + 2},
		"one digit":                  {item{"x": n("7")}, 1 + 1 + 1},
		"four digits":                {item{"x": n("1234")}, 1 + 2 + 1},
		"trailing zeroes are free":   {item{"x": n("100000")}, 1 + 1 + 1},
		"empty map":                  {item{"held": m(item{})}, 4 + 3},
		"a map counts its elements":  {item{"held": m(item{"a": s("xyz"), "bb": n("12")})}, 4 + 3 + (1 + 3 + 1) + (2 + 2 + 1)},
		"a set is its texts":         {item{"x": &types.AttributeValueMemberSS{Value: []string{"ab", "c"}}}, 1 + 2 + 1},
		"a list counts its elements": {item{"x": &types.AttributeValueMemberL{Value: []types.AttributeValue{s("ab"), n("7")}}}, 1 + 3 + (1 + 2) + (1 + 2)},
		"maps in maps": {
			item{"held": m(item{"10.0.0.5:8080": m(item{"since": s("2026-03-01T12:00:00.123Z")})})},
			4 + 3 + 1 + 13 + 3 + 1 + 5 + 24,
		},
	} {
		NewWithT(t).Expect(itemSize(c.item)).To(Equal(c.want), name)
	}
}
