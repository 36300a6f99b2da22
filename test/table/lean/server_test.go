package lean_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/table/lean"
)

// The contract of stores runs on it in test/stores. Beyond that, a condition or a
// parameter that it does not know must not pass for one that holds.
func TestWhatItDoesNotKnowItRefuses(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(lean.New())
	t.Cleanup(server.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	g.Expect(dynamo.Create(t.Context(), client, dynamo.Definition("records"))).To(Succeed())

	put := func(change func(*dynamodb.PutItemInput)) string {
		input := &dynamodb.PutItemInput{TableName: aws.String("records"), Item: map[string]types.AttributeValue{
			"targetGroup": &types.AttributeValueMemberS{Value: "web"}, "owner": &types.AttributeValueMemberS{Value: "a"},
		}}
		change(input)
		_, err := client.PutItem(t.Context(), input)
		return code(err)
	}
	g.Expect(put(func(*dynamodb.PutItemInput) {})).To(BeEmpty())
	for _, expression := range []string{"attribute_exists (#0)", "attribute_not_exists (#0) OR attribute_not_exists (#0)", "attribute_not_exists (#1)", "#0 = :0"} {
		g.Expect(put(func(i *dynamodb.PutItemInput) {
			i.ConditionExpression, i.ExpressionAttributeNames = aws.String(expression), map[string]string{"#0": "nothing"}
		})).To(Equal("ValidationException"), expression)
	}
	g.Expect(put(func(i *dynamodb.PutItemInput) { delete(i.Item, "owner") })).To(Equal("ValidationException"))
	g.Expect(put(func(i *dynamodb.PutItemInput) { i.ReturnValues = types.ReturnValueAllOld })).To(Equal("SerializationException"))
	_, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("records")})
	g.Expect(code(err)).To(Equal("UnknownOperationException"))
	_, err = client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("records"), KeyConditionExpression: aws.String("#0 = :0"),
		ExpressionAttributeNames:  map[string]string{"#0": "owner"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":0": &types.AttributeValueMemberS{Value: "a"}},
	})
	g.Expect(code(err)).To(Equal("ValidationException"), "a query without its hash key")
}

func code(err error) string {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return refused.ErrorCode()
	}
	return ""
}
