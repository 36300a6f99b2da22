package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"target-ownership-controller/ownership"
)

// Creator is what [Create] needs of DynamoDB. The controller's role needs
// none of its writes.
type Creator interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// createTimeout bounds the wait for a new table. On AWS it takes seconds.
const createTimeout = 2 * time.Minute

// Create creates the table unless it is there, waits until it is active, and
// checks it against the definition. It is for tests, demonstrations and first
// steps: in production the Terraform module creates the table.
func Create(ctx context.Context, client Creator, def TableDefinition) error {
	_, err := client.CreateTable(ctx, def.createInput())
	existed := isCode[*types.ResourceInUseException](err)
	if err != nil && !existed {
		return fmt.Errorf("create table %q: %w: %w", def.Name, classify(err), err)
	}
	describe := &dynamodb.DescribeTableInput{TableName: aws.String(def.Name)}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, 2*time.Second
	})
	out, err := waiter.WaitForOutput(ctx, describe, createTimeout)
	if err != nil {
		return fmt.Errorf("wait for table %q: %w: %w", def.Name, ownership.ErrTableCreating, err)
	}
	if err := def.check(out.Table); err != nil {
		return fmt.Errorf("table %q: %w", def.Name, err)
	}
	if existed {
		return nil
	}
	return expire(ctx, client, def)
}

// expire lets DynamoDB remove items by the attribute of the definition. Some
// local engines cannot, and keep the history for ever, which harms nobody.
func expire(ctx context.Context, client Creator, def TableDefinition) error {
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(def.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(def.TTL), Enabled: aws.Bool(true),
		},
	})
	var api smithy.APIError
	if err == nil || errors.As(err, &api) && api.ErrorCode() == "UnknownOperationException" {
		return nil
	}
	return fmt.Errorf("set the time to live of table %q: %w: %w", def.Name, classify(err), err)
}

// Verify checks that the table exists, is active and is what [Definition]
// says. The error tells what to correct and wraps [ownership.ErrTableMissing],
// [ownership.ErrTableCreating], [ownership.ErrForbidden],
// [ownership.ErrThrottled] or [ownership.ErrUnavailable].
func (t *Table) Verify(ctx context.Context) error {
	out, err := t.Describe(ctx)
	if err != nil {
		return err
	}
	if err := Definition(t.name).check(out.Table); err != nil {
		return fmt.Errorf("%s: %w", t.place, err)
	}
	return nil
}

// Describe returns what DynamoDB says of the table. Errors are those of
// [Table.Verify].
func (t *Table) Describe(ctx context.Context) (*dynamodb.DescribeTableOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	out, err := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.name)})
	if err != nil {
		return nil, t.failure("describe the table", classify(err), err)
	}
	return out, nil
}
