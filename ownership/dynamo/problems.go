package dynamo

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Aspect is what of a table can differ from its definition.
type Aspect string

// The aspects that the protocol depends on.
const (
	AspectStatus   Aspect = "status"
	AspectReplicas Aspect = "replicas"
	AspectKeys     Aspect = "keys"
	AspectIndex    Aspect = "index"
)

// Problems is all that [Table.Verify] would refuse, where that tells the first
// alone.
func (d TableDefinition) Problems(table *types.TableDescription) map[Aspect]error {
	problems := map[Aspect]error{
		AspectStatus:   checkStatus(table),
		AspectReplicas: checkOneRegion(table),
		AspectKeys:     d.checkKeys(table),
		AspectIndex:    d.checkIndex(table.GlobalSecondaryIndexes),
	}
	for aspect, err := range problems {
		if err == nil {
			delete(problems, aspect)
		}
	}
	return problems
}
