package dynamo_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership/dynamo"
)

// stored is a client of a table with one item.
type stored struct {
	dynamo.Client
	item map[string]types.AttributeValue
}

func (s stored) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{Items: []map[string]types.AttributeValue{s.item}}, nil
}

func (s stored) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{Item: s.item}, nil
}

func (s stored) Options() dynamodb.Options { return dynamodb.Options{Region: "eu-west-1"} }
