package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"target-ownership-controller/ownership"
)

// condition holds for the item at revision seen, or if there is none for the
// zero Revision.
func condition(seen ownership.Revision) expression.ConditionBuilder {
	if seen == (ownership.Revision{}) {
		return expression.AttributeNotExists(expression.Name(AttrOwner))
	}
	return atRevision(seen)
}

// atRevision needs the write ID beside the version, since an item may have
// been deleted and written anew up to the same version. The protocol also
// asks that the binding's UID is ours: the revision implies it, as the write
// that it names had one UID, which whoever saw the revision has seen with it.
func atRevision(seen ownership.Revision) expression.ConditionBuilder {
	return expression.Name(AttrVersion).Equal(expression.Value(seen.Version)).
		And(expression.Name(AttrWriteID).Equal(expression.Value(seen.WriteID)))
}

// put writes one item under the condition that the stored one is at revision
// seen.
func (t *Table) put(ctx context.Context, op string, it item, seen ownership.Revision) error {
	size := itemSize(it)
	if size > itemLimit-itemMargin {
		return fmt.Errorf("%s: %w: %d bytes, the limit is %d", op, ownership.ErrTooLarge, size, itemLimit-itemMargin)
	}
	expr, err := expression.NewBuilder().WithCondition(condition(seen)).Build()
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.write(ctx, op, func(ctx context.Context, watch func(*dynamodb.Options)) error {
		_, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                 aws.String(t.name),
			Item:                      it,
			ConditionExpression:       expr.Condition(),
			ExpressionAttributeNames:  expr.Names(),
			ExpressionAttributeValues: expr.Values(),
		}, watch)
		return err
	})
}

// write makes one conditional write. An error says that the write was not
// applied only if no attempt at it can have been. A conflict may be with an
// own attempt: the caller reads back and compares the write ID.
func (t *Table) write(ctx context.Context, op string, call func(context.Context, func(*dynamodb.Options)) error) error {
	var tries attempts
	bounded, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	err := call(bounded, tries.watch)
	switch {
	case err == nil:
		return nil
	case tries.unanswered && !errors.Is(classify(err), ownership.ErrConflict):
		return t.failure(op, ownership.ErrUnavailable, err)
	default:
		return t.explain(ctx, op, err)
	}
}

// partition selects the items of one hash key, strongly consistent.
func partition(hash string) queryOf {
	return queryOf{condition: expression.Key(AttrTargetGroup).Equal(expression.Value(hash)), consistent: true}
}

// byCluster selects from the index, which is only eventually consistent.
func byCluster(id string) queryOf {
	return queryOf{condition: expression.Key(AttrClusterID).Equal(expression.Value(id)), index: aws.String(IndexByCluster)}
}

type queryOf struct {
	condition  expression.KeyConditionBuilder
	consistent bool
	index      *string
}

// query returns all items, or an error.
func (t *Table) query(ctx context.Context, op string, q queryOf) ([]item, error) {
	expr, err := expression.NewBuilder().WithKeyCondition(q.condition).Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	pages := dynamodb.NewQueryPaginator(t.client, &dynamodb.QueryInput{
		TableName:                 aws.String(t.name),
		IndexName:                 q.index,
		KeyConditionExpression:    expr.KeyCondition(),
		ExpressionAttributeNames:  expr.Names(),
		ExpressionAttributeValues: expr.Values(),
		ConsistentRead:            aws.Bool(q.consistent),
		Limit:                     t.pageSize,
	})
	var items []item
	for pages.HasMorePages() {
		page, err := t.nextPage(ctx, pages)
		if err != nil {
			return nil, t.explain(ctx, op, err)
		}
		items = append(items, page.Items...)
	}
	return items, nil
}

func (t *Table) nextPage(ctx context.Context, pages *dynamodb.QueryPaginator) (*dynamodb.QueryOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	return pages.NextPage(ctx)
}
