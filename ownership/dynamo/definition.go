package dynamo

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
)

// The attributes of the table, as in docs/protocol.
const (
	AttrTargetGroup       = "targetGroup" // hash key: a target group ARN, ClusterKey, or HistoryPrefix and an ARN
	AttrOwner             = "owner"       // range key: cluster/namespace/name, a cluster ID, or a time
	AttrClusterID         = "clusterID"   // on records only, so that the index holds nothing else
	AttrBindingUID        = "bindingUID"
	AttrMode              = "mode" // ModeShared or ModeExclusive, for people
	AttrHeld              = "held"
	AttrReleasing         = "releasing"
	AttrSince             = "since" // in an entry of held or releasing
	AttrVersion           = "version"
	AttrWriteID           = "writeID"
	AttrSchemaVersion     = "schemaVersion"
	AttrUpdatedAt         = "updatedAt"
	AttrHeldCount         = "heldCount"
	AttrReleasingCount    = "releasingCount"
	AttrControllerVersion = "controllerVersion"
	AttrFingerprint       = "fingerprint" // this and the next on clusters only
	AttrHeartbeatSeq      = "heartbeatSeq"
	AttrHeartbeatAt       = "heartbeatAt"
	AttrState             = "state"
	AttrExpiresAt         = "expiresAt" // this and the next on history only, and never on records or clusters
	AttrCluster           = "cluster"
	AttrBinding           = "binding" // namespace/name
	AttrBy                = "by"
	AttrEvents            = "events"
	AttrWhat              = "what" // this and the next in an event
	AttrReason            = "reason"
	AttrTargets           = "targets"
	AttrMore              = "more"
	AttrOthers            = "others"
)

// ClusterKey is the hash key of the registry's entries. It is no ARN, so no
// group can have it.
const ClusterKey = "cluster"

// IndexByCluster is the index that finds the records of a cluster.
const IndexByCluster = "by-cluster"

// TableDefinition says what the table has to be. [Create] makes it so,
// [Table.Verify] compares, and the Terraform module has to agree.
type TableDefinition struct {
	Name     string
	HashKey  string // all keys are strings
	RangeKey string
	Index    IndexDefinition
	Billing  types.BillingMode
	TTL      string // the attribute with the time of expiry, in seconds since 1970
}

// IndexDefinition is a global secondary index.
type IndexDefinition struct {
	Name       string
	HashKey    string
	RangeKey   string
	Projection types.ProjectionType
}

// Definition returns the definition of the ownership table of that name.
//
// The index projects keys only: they say in which groups a cluster has
// records, which is all that it is asked, and so a write that changes nothing
// but targets does not write the index again, which would double its cost
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html).
func Definition(name string) TableDefinition {
	return TableDefinition{
		Name:     name,
		HashKey:  AttrTargetGroup,
		RangeKey: AttrOwner,
		Index: IndexDefinition{
			Name:       IndexByCluster,
			HashKey:    AttrClusterID,
			RangeKey:   AttrTargetGroup,
			Projection: types.ProjectionTypeKeysOnly,
		},
		Billing: types.BillingModePayPerRequest,
		TTL:     AttrExpiresAt,
	}
}

func (d TableDefinition) createInput() *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(d.Name),
		BillingMode: d.Billing,
		KeySchema:   keySchema(d.HashKey, d.RangeKey),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String(d.Index.Name),
			KeySchema:  keySchema(d.Index.HashKey, d.Index.RangeKey),
			Projection: &types.Projection{ProjectionType: d.Index.Projection},
		}},
	}
	for _, name := range d.keyAttributes() {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	return input
}

func (d TableDefinition) keyAttributes() []string {
	names := []string{d.HashKey, d.RangeKey, d.Index.HashKey, d.Index.RangeKey}
	slices.Sort(names)
	return slices.Compact(names)
}

func keySchema(hash, rng string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(hash), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(rng), KeyType: types.KeyTypeRange},
	}
}

// check compares a table that exists with the definition. Billing, the
// projection and time to live are the operator's choice: the protocol works
// with any.
func (d TableDefinition) check(table *types.TableDescription) error {
	if err := checkStatus(table); err != nil {
		return err
	}
	if err := checkOneRegion(table); err != nil {
		return err
	}
	if err := d.checkKeys(table); err != nil {
		return err
	}
	return d.checkIndex(table.GlobalSecondaryIndexes)
}

func checkStatus(table *types.TableDescription) error {
	switch table.TableStatus {
	case types.TableStatusActive, types.TableStatusUpdating: // usable during updates
		return nil
	case types.TableStatusCreating:
		return fmt.Errorf("%w: wait until it is", ownership.ErrTableCreating)
	case types.TableStatusDeleting, types.TableStatusArchiving, types.TableStatusArchived:
		return fmt.Errorf("%w: its status is %s", ownership.ErrTableMissing, table.TableStatus)
	default:
		return fmt.Errorf("%w: its status is %s", ownership.ErrUnavailable, table.TableStatus)
	}
}

// checkOneRegion refuses global tables. With eventual consistency between
// regions the last writer wins and no conditional write is safe; with strong
// consistency (MRSC) the protocol would hold, but writes fail in ways that
// are not handled here.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
func checkOneRegion(table *types.TableDescription) error {
	if len(table.Replicas) == 0 && len(table.GlobalTableWitnesses) == 0 && table.GlobalTableVersion == nil {
		return nil
	}
	return fmt.Errorf("%w as needed: %w (multi-region consistency %q), and ownership needs conditional writes in one region: use a table without replicas",
		ownership.ErrTableMissing, ownership.ErrReplicated, table.MultiRegionConsistency)
}

func (d TableDefinition) checkKeys(table *types.TableDescription) error {
	want, got := describeKeys(keySchema(d.HashKey, d.RangeKey)), describeKeys(table.KeySchema)
	if want != got {
		return fmt.Errorf("%w as needed: its key is %s, want %s", ownership.ErrTableMissing, got, want)
	}
	for _, attribute := range table.AttributeDefinitions {
		name := aws.ToString(attribute.AttributeName)
		if slices.Contains(d.keyAttributes(), name) && attribute.AttributeType != types.ScalarAttributeTypeS {
			return fmt.Errorf("%w as needed: its key attribute %s has type %s, want S", ownership.ErrTableMissing, name, attribute.AttributeType)
		}
	}
	return nil
}

func (d TableDefinition) checkIndex(indexes []types.GlobalSecondaryIndexDescription) error {
	for _, index := range indexes {
		if aws.ToString(index.IndexName) != d.Index.Name {
			continue
		}
		want, got := describeKeys(keySchema(d.Index.HashKey, d.Index.RangeKey)), describeKeys(index.KeySchema)
		if want != got {
			return fmt.Errorf("%w as needed: the key of its index %s is %s, want %s", ownership.ErrTableMissing, d.Index.Name, got, want)
		}
		if index.IndexStatus == types.IndexStatusCreating {
			return fmt.Errorf("%w: its index %s is being created, wait until it is", ownership.ErrTableCreating, d.Index.Name)
		}
		return nil
	}
	return fmt.Errorf("%w as needed: it has no index %s", ownership.ErrTableMissing, d.Index.Name)
}

func describeKeys(schema []types.KeySchemaElement) string {
	var hash, rng string
	for _, element := range schema {
		if element.KeyType == types.KeyTypeHash {
			hash = aws.ToString(element.AttributeName)
		} else {
			rng = aws.ToString(element.AttributeName)
		}
	}
	return fmt.Sprintf("(hash %q, range %q)", hash, rng)
}
