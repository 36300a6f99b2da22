package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/awserror"
	"target-ownership-controller/ownership/dynamo"
)

// keys are the records of the index.
type keys = []ownership.Key

// nobody is the ID of a cluster and of a target that cannot be: one has a
// space, the other is neither an address nor an instance.
const nobody = "targetctl doctor"

// probe tries one action in a way that changes nothing.
type probe struct {
	action string
	on     string
	try    func(context.Context) error
}

// permissions tries what the controller and targetctl need, and returns the
// keys of all records. What is lacking is a finding. readable is false if the
// records cannot be read.
func (e *examination) permissions(ctx context.Context) (found keys, readable bool) {
	readable = true
	for _, p := range e.tableProbes() {
		if e.try(ctx, p) {
			readable = readable && p.action != "dynamodb:Query" && p.action != "dynamodb:GetItem"
		}
	}
	if !e.indexless {
		found = e.scan(ctx)
	}
	for _, p := range e.groupProbes(found) {
		e.try(ctx, p)
	}
	return found, readable
}

// try reports whether the permission is lacking.
func (e *examination) try(ctx context.Context, p probe) (lacking bool) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := p.try(ctx)
	switch {
	case denied(err):
		e.lacks(p.action, p.on, err)
		return true
	case err != nil && !answered(err):
		e.add(admin.SeverityNote, CheckPermission, p.action, "whether it is allowed on "+p.on+" could not be tried: "+awserror.Text(err), "run it again")
	}
	return false
}

func (e *examination) lacks(action, on string, err error) {
	e.add(admin.SeverityError, CheckPermission, action, "the credentials may not do it on "+on+": "+awserror.Text(err),
		"allow "+action+" on "+on+" in the policy of the role: the Terraform module controller-role and docs/install/iam-policy.json have all that a controller needs")
}

func (e *examination) tableProbes() []probe {
	index := dynamo.Definition(e.Site.Table).Index
	key := keyOf(dynamo.ClusterKey)
	return []probe{
		{"dynamodb:GetItem", "the table", func(ctx context.Context) error {
			_, err := e.DynamoDB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &e.Site.Table, Key: key})
			return err
		}},
		{"dynamodb:Query", "the table", e.query(nil, dynamo.AttrTargetGroup, dynamo.ClusterKey)},
		{"dynamodb:Query", "the index " + index.Name, e.query(aws.String(index.Name), index.HashKey, dynamo.ClusterKey)},
		{"dynamodb:PutItem", "the table", e.put(dynamo.ClusterKey)},
		{"dynamodb:DeleteItem", "the table", func(ctx context.Context) error {
			_, err := e.DynamoDB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &e.Site.Table, Key: key, ConditionExpression: never, ExpressionAttributeNames: neverNames})
			return err
		}},
	}
}

// No item is there and not there, so nothing is ever written.
var (
	never      = aws.String("attribute_exists(#k) AND attribute_not_exists(#k)")
	neverNames = map[string]string{"#k": dynamo.AttrOwner}
)

func keyOf(hash string) map[string]dynamodbtypes.AttributeValue {
	return map[string]dynamodbtypes.AttributeValue{
		dynamo.AttrTargetGroup: &dynamodbtypes.AttributeValueMemberS{Value: hash},
		dynamo.AttrOwner:       &dynamodbtypes.AttributeValueMemberS{Value: nobody},
	}
}

func (e *examination) put(hash string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := e.DynamoDB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &e.Site.Table, Item: keyOf(hash), ConditionExpression: never, ExpressionAttributeNames: neverNames})
		return err
	}
}

func (e *examination) query(index *string, attribute, value string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := e.DynamoDB.Query(ctx, &dynamodb.QueryInput{
			TableName: &e.Site.Table, IndexName: index, Limit: aws.Int32(1),
			KeyConditionExpression:    aws.String("#k = :v"),
			ExpressionAttributeNames:  map[string]string{"#k": attribute},
			ExpressionAttributeValues: map[string]dynamodbtypes.AttributeValue{":v": &dynamodbtypes.AttributeValueMemberS{Value: value}},
		})
		return err
	}
}

// groupProbes ask about one group that records name. DeregisterTargets is not
// tried: nothing but a release by the protocol makes that call. Policies allow
// it where they allow RegisterTargets.
func (e *examination) groupProbes(found keys) []probe {
	probes := []probe{{"elasticloadbalancing:DescribeTargetGroups", "all target groups", func(ctx context.Context) error {
		_, err := e.ELBv2.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{PageSize: aws.Int32(1)})
		return err
	}}}
	if len(found) == 0 {
		return probes
	}
	group := aws.String(string(found[0].Group))
	past := dynamo.HistoryPrefix + *group // roles may be limited to hash keys
	return append(probes,
		probe{"dynamodb:Query", "the history of " + *group, e.query(nil, dynamo.AttrTargetGroup, past)},
		probe{"dynamodb:PutItem", "the history of " + *group, e.put(past)},
		probe{"elasticloadbalancing:DescribeTargetHealth", "all target groups", func(ctx context.Context) error {
			_, err := e.ELBv2.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: group})
			return err
		}},
		probe{"elasticloadbalancing:RegisterTargets", *group, func(ctx context.Context) error {
			_, err := e.ELBv2.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: group, Targets: []elbv2types.TargetDescription{{Id: aws.String(nobody)}}})
			return err
		}})
}

// scan lists the keys of all records, to find those of clusters that the
// registry does not know. It reads the index, which has keys alone.
func (e *examination) scan(ctx context.Context) keys {
	index := dynamo.Definition(e.Site.Table).Index.Name
	pages := dynamodb.NewScanPaginator(e.DynamoDB, &dynamodb.ScanInput{TableName: aws.String(e.Site.Table), IndexName: aws.String(index)})
	var found keys
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			e.add(admin.SeverityNote, CheckPermission, "dynamodb:Scan", "records of clusters that the registry does not know were not looked for: "+awserror.Text(err),
				fmt.Sprintf("allow dynamodb:Scan on the index %s to who runs doctor; controllers do not need it", index))
			return found
		}
		for _, item := range page.Items {
			group, groupErr := ownership.ParseGroupARN(text(item[dynamo.AttrTargetGroup]))
			owner, ownerErr := ownership.ParseOwner(text(item[dynamo.AttrOwner]))
			if errors.Join(groupErr, ownerErr) == nil {
				found = append(found, ownership.Key{Group: group, Owner: owner})
			}
		}
	}
	return found
}

func text(v dynamodbtypes.AttributeValue) string {
	if s, ok := v.(*dynamodbtypes.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// denials are the codes of a policy that does not allow the action, not those
// of credentials that are wrong.
var denials = map[string]bool{"AccessDeniedException": true, "AccessDenied": true, "UnauthorizedOperation": true}

// answered reports whether AWS refused the call for what is in it, which it
// does once the policies have let the call through.
func answered(err error) bool {
	var response interface{ HTTPStatusCode() int }
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || !errors.As(err, &response) {
		return false
	}
	_, throttled := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return !throttled && response.HTTPStatusCode() < http.StatusInternalServerError
}

func denied(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && denials[api.ErrorCode()]
}
