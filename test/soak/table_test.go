package soak

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

const someGroup ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/0123456789abcdef"

func (t *table) as(caller string) *dynamo.Table {
	return dynamo.New(dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: aws.String(t.front.URL), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(caller, "secret", ""),
	}), tableName, dynamo.Options{})
}

func TestTheTableThrottlesSomeCallers(t *testing.T) {
	g := NewWithT(t)
	table, err := startTable(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = table.close() })

	begun := time.Now()
	table.throttle("east", true)
	_, err = table.as("east").Records(t.Context(), someGroup)
	g.Expect(err).To(MatchError(ownership.ErrThrottled))
	g.Expect(table.lastAsked("east")).To(BeZero(), "it has read nothing")
	_, err = table.as("west").Records(t.Context(), someGroup)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(table.lastAsked("west")).To(BeTemporally(">=", begun))

	table.throttle("east", false)
	_, err = table.as("east").Records(t.Context(), someGroup)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestTheTableIsLostAndBack(t *testing.T) {
	g := NewWithT(t)
	table, err := startTable(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = table.close() })
	record := ownership.Record{Group: someGroup, Owner: ownership.Owner{Cluster: "east", Namespace: "shop", Name: "web"}}.Clone()
	record.BindingUID, record.Revision = "u", ownership.Revision{Version: 1, WriteID: "w"}
	g.Expect(table.as("east").Put(t.Context(), record, ownership.Revision{})).To(Succeed())

	g.Expect(table.delete(t.Context())).To(Succeed())
	_, err = table.as("east").Records(t.Context(), someGroup)
	g.Expect(err).To(MatchError(ownership.ErrTableMissing))
	g.Expect(table.create(t.Context())).To(Succeed())
	read, err := table.as("east").Records(t.Context(), someGroup)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Records).To(BeEmpty())
}
