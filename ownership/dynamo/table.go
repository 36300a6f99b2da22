// Package dynamo keeps records and clusters in a DynamoDB table, laid out as
// docs/protocol says. Every write is a conditional write of one item; every
// read that decides something is strongly consistent and paged to its end.
package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
)

// Client is what [Table] needs of *dynamodb.Client.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	Options() dynamodb.Options // to name the region and the endpoint in errors
}

// DefaultCallTimeout bounds one call, retries of the SDK included.
const DefaultCallTimeout = 5 * time.Second

// Options are the choices of [New]. The zero value is right in production.
type Options struct {
	// CallTimeout bounds each call to DynamoDB, retries of the SDK included,
	// so that an unreachable endpoint does not hang a pass. 0 means
	// DefaultCallTimeout.
	CallTimeout time.Duration
	// PageSize limits the items of a page of a listing, for tests of paging.
	// 0 leaves it to DynamoDB, which returns up to 1 MB.
	PageSize int32
	// HistoryAttempts is how many attempts the SDK makes at a write of history.
	// 0 means one, for a writer that tries again by itself: retries would take of
	// a throttled table what the records need, and of the retries that the SDK
	// grants a client.
	HistoryAttempts int
}

// Table implements [ownership.Store], [ownership.Registry] and
// [ownership/history.Store], each of them on items of its own. It is safe for
// concurrent use.
type Table struct {
	client   Client
	name     string
	place    string // the table, region and endpoint, for errors
	timeout  time.Duration
	pageSize *int32
	attempts int // at a write of history
}

// New returns the table of that name. It makes no call; see [Table.Verify].
func New(client Client, name string, options Options) *Table {
	t := &Table{client: client, name: name, timeout: options.CallTimeout, attempts: max(options.HistoryAttempts, 1)}
	if t.timeout == 0 {
		t.timeout = DefaultCallTimeout
	}
	if options.PageSize > 0 {
		t.pageSize = aws.Int32(options.PageSize)
	}
	at := client.Options()
	t.place = fmt.Sprintf("table %q, region %q", name, at.Region)
	if at.BaseEndpoint != nil {
		t.place += ", endpoint " + *at.BaseEndpoint
	}
	return t
}

// Records implements [ownership.Store].
func (t *Table) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	var records ownership.Records
	items, err := t.query(ctx, fmt.Sprintf("read the records of %s", group), partition(string(group)))
	if err != nil {
		return ownership.Records{}, err
	}
	for _, it := range items {
		rec, err := decodeRecord(it)
		if err != nil {
			records.Unreadable = append(records.Unreadable, ownership.Unreadable{Owner: note(it, AttrOwner), Reason: err.Error()})
			continue
		}
		records.Records = append(records.Records, rec)
	}
	return records, nil
}

// Put implements [ownership.Store].
func (t *Table) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	op := fmt.Sprintf("write the record of %s in %s", next.Owner, next.Group)
	if err := checkRevision(next.Revision, seen); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := next.Validate(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	encoded, err := encodeRecord(next)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.put(ctx, op, encoded, seen)
}

// Delete implements [ownership.Store].
func (t *Table) Delete(ctx context.Context, rec ownership.Record) error {
	op := fmt.Sprintf("delete the record of %s in %s", rec.Owner, rec.Group)
	expr, err := expression.NewBuilder().WithCondition(atRevision(rec.Revision)).Build()
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.write(ctx, op, func(ctx context.Context, watch func(*dynamodb.Options)) error {
		_, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 aws.String(t.name),
			Key:                       key(string(rec.Group), rec.Owner.String()),
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}, watch)
		return err
	})
}

// Groups implements [ownership.Store]. An entry whose key is no group and
// owner is left out: [Table.Records] of its group reports it.
func (t *Table) Groups(ctx context.Context, clusterID string) ([]ownership.Key, error) {
	op := fmt.Sprintf("list the groups of cluster %s", clusterID)
	items, err := t.query(ctx, op, byCluster(clusterID))
	if err != nil {
		return nil, err
	}
	var keys []ownership.Key
	for _, it := range items {
		group, groupErr := ownership.ParseGroupARN(note(it, AttrTargetGroup))
		owner, ownerErr := ownership.ParseOwner(note(it, AttrOwner))
		if groupErr == nil && ownerErr == nil {
			keys = append(keys, ownership.Key{Group: group, Owner: owner})
		}
	}
	return keys, nil
}

func key(hash, rng string) item {
	return item{
		AttrTargetGroup: &types.AttributeValueMemberS{Value: hash},
		AttrOwner:       &types.AttributeValueMemberS{Value: rng},
	}
}

// checkRevision refuses a write that could never be told from others.
func checkRevision(next, seen ownership.Revision) error {
	if next.Version != seen.Version+1 || next.WriteID == "" || next.WriteID == seen.WriteID {
		return fmt.Errorf("revision %+v cannot follow %+v: the version goes up by one and the write ID is new", next, seen)
	}
	return nil
}
