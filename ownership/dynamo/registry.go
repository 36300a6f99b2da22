package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"target-ownership-controller/ownership"
)

type ofRegistry struct{}

// OfRegistry reports whether an AWS call with this context is about clusters,
// so that it fails for all groups or for none.
func OfRegistry(ctx context.Context) bool { return ctx.Value(ofRegistry{}) != nil }

func forRegistry(ctx context.Context) context.Context {
	return context.WithValue(ctx, ofRegistry{}, true)
}

// Cluster implements [ownership.Registry].
func (t *Table) Cluster(ctx context.Context, id string) (ownership.Cluster, error) {
	op := fmt.Sprintf("read cluster %s", id)
	out, err := t.get(forRegistry(ctx), key(ClusterKey, id))
	if err != nil {
		return ownership.Cluster{}, t.explain(ctx, op, err)
	}
	if len(out.Item) == 0 {
		return ownership.Cluster{}, fmt.Errorf("%s: %w: %s", op, ownership.ErrNotFound, t.place)
	}
	cluster, err := decodeCluster(out.Item)
	if err != nil {
		return ownership.Cluster{}, fmt.Errorf("%s: %w: %w", op, ownership.ErrUnreadable, err)
	}
	return cluster, nil
}

func (t *Table) get(ctx context.Context, key item) (*dynamodb.GetItemOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	return t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(t.name), Key: key, ConsistentRead: aws.Bool(true),
	})
}

// Clusters implements [ownership.Registry].
func (t *Table) Clusters(ctx context.Context) (ownership.Clusters, error) {
	items, err := t.query(forRegistry(ctx), "list the clusters", partition(ClusterKey))
	if err != nil {
		return ownership.Clusters{}, err
	}
	var clusters ownership.Clusters
	for _, it := range items {
		cluster, err := decodeCluster(it)
		if err != nil {
			clusters.Unreadable = append(clusters.Unreadable, ownership.Unreadable{Owner: note(it, AttrOwner), Reason: err.Error()})
			continue
		}
		clusters.Clusters = append(clusters.Clusters, cluster)
	}
	return clusters, nil
}

// PutCluster implements [ownership.Registry].
func (t *Table) PutCluster(ctx context.Context, next ownership.Cluster, seen ownership.Revision) error {
	op := fmt.Sprintf("write cluster %s", next.ID)
	if err := checkRevision(next.Revision, seen); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := next.Validate(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	encoded, err := encodeCluster(next)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return t.put(forRegistry(ctx), op, encoded, seen)
}
