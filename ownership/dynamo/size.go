package dynamo

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DynamoDB refuses items above 400 KB, names of attributes included
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html).
// The published sizes are approximate, so a margin is kept.
const (
	itemLimit  = 400 * 1024
	itemMargin = 10 * 1024
)

// itemSize returns the size of an item in bytes by the published rules
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
func itemSize(item map[string]types.AttributeValue) int {
	size := 0
	for name, value := range item {
		size += len(name) + valueSize(value)
	}
	return size
}

// valueSize knows the types that records and clusters are made of.
func valueSize(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		digits := len(strings.Trim(v.Value, "-0"))
		return (digits+1)/2 + 1
	case *types.AttributeValueMemberM:
		const perMap, perElement = 3, 1
		return perMap + len(v.Value)*perElement + itemSize(v.Value)
	default:
		return itemLimit // nothing that is written here
	}
}
