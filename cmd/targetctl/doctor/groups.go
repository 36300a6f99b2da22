package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/awserror"
	"target-ownership-controller/ownership/dynamo"
)

// groups are those that have records, each once. Without the permission to
// scan they are those of the clusters that somebody names: the registry, or who
// asks.
func (e *examination) groups(ctx context.Context) []ownership.GroupARN {
	groups := append(slices.Clone(e.Groups), e.named(ctx)...)
	if !e.indexless {
		scanned, err := e.scan(ctx)
		groups = append(groups, scanned...)
		if err != nil {
			e.unscanned(err)
			groups = append(groups, e.ofRegistry(ctx)...)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

func (e *examination) unscanned(err error) {
	e.add(admin.SeverityNote, CheckPermission, "dynamodb:Scan", "records of clusters that the registry does not know were not looked for, except where --cluster or --group names them: "+awserror.Text(err),
		fmt.Sprintf("allow dynamodb:Scan on the index %s to who runs doctor; controllers do not need it", dynamo.Definition(e.Site.Table).Index.Name))
}

// page reads one within the time of a call.
func (e *examination) page(ctx context.Context, pages *dynamodb.ScanPaginator) (*dynamodb.ScanOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return pages.NextPage(ctx)
}

// scan finds the groups also of clusters that the registry does not know. It
// reads the index, which has keys alone.
func (e *examination) scan(ctx context.Context) ([]ownership.GroupARN, error) {
	pages := dynamodb.NewScanPaginator(e.DynamoDB, &dynamodb.ScanInput{
		TableName: aws.String(e.Site.Table), IndexName: aws.String(dynamo.Definition(e.Site.Table).Index.Name),
	})
	var found []ownership.GroupARN
	for pages.HasMorePages() {
		page, err := e.page(ctx, pages)
		if err != nil {
			return found, err
		}
		for _, item := range page.Items {
			if group, err := ownership.ParseGroupARN(text(item[dynamo.AttrTargetGroup])); err == nil {
				found = append(found, group)
			}
		}
	}
	return found, nil
}

func text(v dynamodbtypes.AttributeValue) string {
	if s, ok := v.(*dynamodbtypes.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// ofRegistry are the groups of the clusters that the registry knows. Whatever
// keeps it from being read, the survey tells.
func (e *examination) ofRegistry(ctx context.Context) []ownership.GroupARN {
	list, err := admin.Clusters(ctx, e.Doctor.Table, 0)
	if err != nil {
		return nil
	}
	var ids []string
	for _, c := range list.Clusters {
		ids = append(ids, c.ID)
	}
	return e.ofClusters(ctx, ids)
}

// named are the groups of the clusters that whoever asks has named. A name that
// nothing knows is misspelt, or of a cluster that is still to come.
func (e *examination) named(ctx context.Context) []ownership.GroupARN {
	var groups []ownership.GroupARN
	for _, id := range e.Clusters {
		found, read := e.ofCluster(ctx, id)
		groups = append(groups, found...)
		if !read || len(found) > 0 {
			continue
		}
		if _, err := e.Doctor.Table.Cluster(ctx, id); errors.Is(err, ownership.ErrNotFound) {
			e.add(admin.SeverityNote, CheckClusterName, "cluster "+id, "neither the registry nor a record names it",
				"correct --cluster if it is misspelt: targetctl clusters lists those that there are; a controller enters its own when it starts")
		}
	}
	return groups
}

// ofClusters are the groups in which the clusters have records.
func (e *examination) ofClusters(ctx context.Context, ids []string) []ownership.GroupARN {
	var groups []ownership.GroupARN
	for _, id := range ids {
		found, _ := e.ofCluster(ctx, id)
		groups = append(groups, found...)
	}
	return groups
}

func (e *examination) ofCluster(ctx context.Context, id string) (groups []ownership.GroupARN, read bool) {
	if e.indexless {
		return nil, false
	}
	keys, err := e.Doctor.Table.Groups(ctx, id)
	if err != nil {
		e.add(admin.SeverityWarning, CheckTableUnread, "cluster "+id, "in which groups it has records could not be read: "+awserror.Text(err), "run it again")
	}
	for _, key := range keys {
		groups = append(groups, key.Group)
	}
	return groups, err == nil
}
