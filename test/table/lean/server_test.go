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

// serve starts a server with the ownership table.
func serve(t *testing.T) *dynamodb.Client {
	t.Helper()
	server := httptest.NewServer(lean.New())
	t.Cleanup(server.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
	NewWithT(t).Expect(dynamo.Create(t.Context(), client, dynamo.Definition("records"))).To(Succeed())
	return client
}

// The contract of stores runs on it in test/stores. Beyond that, a condition or a
// parameter that it does not know must not pass for one that holds.
func TestWhatItDoesNotKnowItRefuses(t *testing.T) {
	g := NewWithT(t)
	client := serve(t)
	put := func(change func(*dynamodb.PutItemInput)) string {
		input := &dynamodb.PutItemInput{TableName: aws.String("records"), Item: keys("a")}
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

func TestAPageHasNoMoreThanIsAskedFor(t *testing.T) {
	g := NewWithT(t)
	client := serve(t)
	for _, owner := range []string{"a", "b"} {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("records"), Item: keys(owner)})
		g.Expect(err).NotTo(HaveOccurred())
	}
	for at, want := range []string{"a", "b"} {
		input := &dynamodb.QueryInput{
			TableName: aws.String("records"), KeyConditionExpression: aws.String("(#0 = :0) AND (#1 >= :1)"), Limit: aws.Int32(1),
			ExpressionAttributeNames:  map[string]string{"#0": "targetGroup", "#1": "owner"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":0": keys("")["targetGroup"], ":1": keys(want)["owner"]},
		}
		out, err := client.Query(t.Context(), input)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(out.Items).To(Equal([]map[string]types.AttributeValue{keys(want)}))
		g.Expect(len(out.LastEvaluatedKey) > 0).To(Equal(at == 0))
	}
}

func keys(owner string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"targetGroup": &types.AttributeValueMemberS{Value: "web"}, "owner": &types.AttributeValueMemberS{Value: owner},
	}
}

func code(err error) string {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return refused.ErrorCode()
	}
	return ""
}
