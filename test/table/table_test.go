package table_test

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/sivchari/kumo"

	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/table"
)

func TestStartCreatesAnOwnershipTable(t *testing.T) {
	g := NewWithT(t)
	first, second := table.Start(t), table.Start(t)
	for _, created := range []*table.Table{first, second, first.Another(t)} {
		g.Expect(dynamo.New(created.Client, created.Name, dynamo.Options{}).Verify(t.Context())).To(Succeed())
	}
	g.Expect(first.Name).NotTo(Equal(second.Name))
}

func TestStartPrefersTheGivenEndpoint(t *testing.T) {
	g := NewWithT(t)
	server := kumo.NewServer()
	t.Cleanup(server.Close)
	t.Setenv("DYNAMODB_ENDPOINT", server.URL)
	created := table.Start(t)
	g.Expect(created.Engine).To(Equal("given"))
	g.Expect(created.Endpoint).To(Equal(server.URL))
	g.Expect(dynamo.New(created.Client, created.Name, dynamo.Options{}).Verify(t.Context())).To(Succeed())
}
