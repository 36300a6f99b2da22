package dynamo

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
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

// What a map or a list takes beside its elements, and beside each of them.
const perCollection, perElement = 3, 1

// valueSize knows the types that items of this table are made of.
func valueSize(value types.AttributeValue) int {
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		digits := len(strings.Trim(v.Value, "-0"))
		return (digits+1)/2 + 1
	case *types.AttributeValueMemberSS:
		return len(strings.Join(v.Value, ""))
	case *types.AttributeValueMemberM:
		return perCollection + len(v.Value)*perElement + itemSize(v.Value)
	case *types.AttributeValueMemberL:
		size := perCollection + len(v.Value)*perElement
		for _, element := range v.Value {
			size += valueSize(element)
		}
		return size
	default:
		return itemLimit // nothing that is written here
	}
}

// RecordSize returns the bytes of a record in the table, by which DynamoDB
// bills and limits it.
func RecordSize(rec ownership.Record) (int, error) {
	encoded, err := encodeRecord(rec)
	return itemSize(encoded), err
}
