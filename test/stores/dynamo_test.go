// Package stores runs the contract of stores against DynamoDB engines.
package stores

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/storetest"
	"target-ownership-controller/test/table"
)

var engines = []table.Engine{table.Given, table.Container, table.Kumo, table.Dynalite, table.Lean}

func TestContract(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.Name, func(t *testing.T) {
			first := engine.Start(t)
			storetest.Run(t, func(t *testing.T) storetest.Harness { return harness(t, first.Another(t)) })
		})
	}
}

func harness(t *testing.T, in *table.Table) storetest.Harness {
	t.Helper()
	wire := &lossy{next: http.DefaultClient}
	client := dynamodb.NewFromConfig(in.Config, func(o *dynamodb.Options) { o.HTTPClient = wire })
	store := dynamo.New(client, in.Name, dynamo.Options{PageSize: 3})
	NewWithT(t).Expect(store.Verify(t.Context())).To(Succeed())
	return storetest.Harness{
		Store:     store,
		Registry:  store,
		History:   store,
		LoseReply: func() { wire.lose.Store(true) },
		Damage: func(t testing.TB, key ownership.Key, damage storetest.Damage) {
			change(t, in, string(key.Group), key.Owner.String(), damage.Apply)
		},
		DamageCluster: func(t testing.TB, id string, damage storetest.Damage) {
			change(t, in, "cluster", id, damage.Apply)
		},
		SetState: func(t testing.TB, id string, state ownership.ClusterState) {
			change(t, in, "cluster", id, func(item map[string]any) { item["state"] = string(state) })
		},
	}
}

// lossy loses the reply to the next write after it was sent.
type lossy struct {
	next *http.Client
	lose atomic.Bool
}

func (l *lossy) Do(r *http.Request) (*http.Response, error) {
	response, err := l.next.Do(r)
	action := r.Header.Get("X-Amz-Target")
	writes := strings.HasSuffix(action, ".PutItem") || strings.HasSuffix(action, ".DeleteItem")
	if err != nil || !writes || !l.lose.CompareAndSwap(true, false) {
		return response, err
	}
	_, readErr := io.Copy(io.Discard, response.Body)
	return nil, errors.Join(syscall.ECONNRESET, readErr, response.Body.Close())
}

// change rewrites an item as somebody could in the console.
func change(t testing.TB, in *table.Table, hash, rng string, apply func(map[string]any)) {
	t.Helper()
	g := NewWithT(t)
	out, err := in.Client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName:      aws.String(in.Name),
		ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			"targetGroup": &types.AttributeValueMemberS{Value: hash},
			"owner":       &types.AttributeValueMemberS{Value: rng},
		},
	})
	g.Expect(err).NotTo(HaveOccurred())
	var item map[string]any
	g.Expect(attributevalue.UnmarshalMap(out.Item, &item)).To(Succeed())
	g.Expect(item).NotTo(BeEmpty())
	apply(item)
	changed, err := attributevalue.MarshalMap(item)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = in.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(in.Name), Item: changed})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestMissingTableIsNamed(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.Name, func(t *testing.T) {
			g := NewWithT(t)
			in := engine.Start(t)
			store := dynamo.New(in.Client, "misspelt", dynamo.Options{})
			_, readErr := store.Records(t.Context(), group)
			for _, err := range []error{readErr, store.Put(t.Context(), record, ownership.Revision{}), store.Verify(t.Context())} {
				g.Expect(err).To(MatchError(ownership.ErrTableMissing))
				g.Expect(err).To(MatchError(And(ContainSubstring(`"misspelt"`), ContainSubstring(in.Endpoint), ContainSubstring(`"`+in.Config.Region+`"`))))
				var sdk *types.ResourceNotFoundException
				g.Expect(errors.As(err, &sdk)).To(BeTrue(), "the SDK's error stays reachable")
			}
		})
	}
}

// A table that is being created answers writes as if it did not exist. Only
// dynalite has the state.
func TestTableBeingCreatedIsNotMissing(t *testing.T) {
	g := NewWithT(t)
	in := table.Dynalite.Start(t)
	const name = "in-creation"
	_, err := in.Client.CreateTable(t.Context(), createInput(name))
	g.Expect(err).NotTo(HaveOccurred())
	store := dynamo.New(in.Client, name, dynamo.Options{})
	g.Expect(store.Put(t.Context(), record, ownership.Revision{})).To(MatchError(ownership.ErrTableCreating))
	g.Expect(store.Verify(t.Context())).To(MatchError(ownership.ErrTableCreating))

	g.Expect(dynamo.Create(t.Context(), in.Client, dynamo.Definition(name))).To(Succeed(), "waits for it")
	g.Expect(store.Put(t.Context(), record, ownership.Revision{})).To(Succeed())
}

func TestTableWithoutTheIndexIsRefused(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.Name, func(t *testing.T) {
			g := NewWithT(t)
			in := engine.Start(t)
			name := in.Name + "-plain"
			input := createInput(name)
			input.GlobalSecondaryIndexes = nil
			input.AttributeDefinitions = input.AttributeDefinitions[:2]
			_, err := in.Client.CreateTable(t.Context(), input)
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() {
				_, err := in.Client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String(name)})
				g.Expect(err).NotTo(HaveOccurred())
			})
			store := dynamo.New(in.Client, name, dynamo.Options{})
			g.Eventually(func() error { return store.Verify(t.Context()) }, 10*time.Second).
				Should(MatchError(And(ContainSubstring("no index by-cluster"), ContainSubstring(name))))
			g.Expect(dynamo.Create(t.Context(), in.Client, dynamo.Definition(name))).To(MatchError(ownership.ErrTableMissing))
		})
	}
}

// createInput spells the table of docs/protocol out.
func createInput(name string) *dynamodb.CreateTableInput {
	str := types.ScalarAttributeTypeS
	return &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("targetGroup"), AttributeType: str},
			{AttributeName: aws.String("owner"), AttributeType: str},
			{AttributeName: aws.String("clusterID"), AttributeType: str},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("targetGroup"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("owner"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-cluster"),
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("clusterID"), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String("targetGroup"), KeyType: types.KeyTypeRange},
			},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	}
}

const group ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

var record = ownership.Record{
	Group:      group,
	Owner:      ownership.Owner{Cluster: "a", Namespace: "shop", Name: "web"},
	BindingUID: "8a5c9b52-6d7e-4a53-9c8f-3f0f6f2d1a10",
	Held:       map[ownership.Target]time.Time{"10.0.0.5:8080": {}},
	Revision:   ownership.Revision{Version: 1, WriteID: "write-1"},
}
