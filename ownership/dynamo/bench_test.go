package dynamo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

// shelf is a client without a network: it answers queries with the item that
// was put last, so that what is measured is the codec.
type shelf struct {
	dynamo.Client
	item map[string]types.AttributeValue
}

func (*shelf) Options() dynamodb.Options { return dynamodb.Options{Region: "eu-west-1"} }

func (s *shelf) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	s.item = in.Item
	return &dynamodb.PutItemOutput{}, nil
}

func (s *shelf) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{Items: []map[string]types.AttributeValue{s.item}}, nil
}

// BenchmarkRecord writes and reads records of 150, 1,000 and 3,000 targets.
func BenchmarkRecord(b *testing.B) {
	for _, targets := range []int{150, 1000, 3000} {
		table, rec := dynamo.New(&shelf{}, "owners", dynamo.Options{}), recordOf(targets)
		b.Run(fmt.Sprintf("write/targets=%d", targets), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := table.Put(b.Context(), rec, ownership.Revision{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("read/targets=%d", targets), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				records, err := table.Records(b.Context(), group)
				if err != nil || len(records.Records) != 1 || len(records.Records[0].Held) != targets {
					b.Fatalf("read %d records, %v", len(records.Records), err)
				}
			}
		})
	}
}
