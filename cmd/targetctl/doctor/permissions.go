package doctor

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/awserror"
	"target-ownership-controller/ownership/dynamo"
)

// nobody is the ID of a cluster and of a target that cannot be: one has a
// space, the other is neither an address nor an instance.
const nobody = "targetctl doctor"

// probe tries one action in a way that changes nothing.
type probe struct {
	action string
	on     string
	try    func(context.Context) error
}

// permissions tries what targetctl needs to look, and what a controller needs
// to write if that was asked for. What is lacking is a finding. It returns the
// groups that have records, as far as they can be found; readable is false if
// the records cannot be read.
func (e *examination) permissions(ctx context.Context) (groups []ownership.GroupARN, readable bool) {
	readable = true
	for _, p := range e.reads() {
		lacking := e.try(ctx, p)
		readable = readable && (!lacking || p.action != query)
	}
	if !readable {
		return nil, false
	}
	groups = e.groups(ctx)
	if len(groups) > 0 {
		e.try(ctx, e.listing(groups[0]))
	}
	if e.Writes {
		e.writes(ctx)
	}
	return groups, true
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

const query = "dynamodb:Query"

func (e *examination) reads() []probe {
	index := dynamo.Definition(e.Site.Table).Index
	return []probe{
		{"dynamodb:GetItem", "the table", func(ctx context.Context) error {
			_, err := e.DynamoDB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &e.Site.Table, Key: keyOf(dynamo.ClusterKey)})
			return err
		}},
		{query, "the table", e.query(nil, dynamo.AttrTargetGroup, dynamo.ClusterKey)},
		{query, "the index " + index.Name, e.query(aws.String(index.Name), index.HashKey, dynamo.ClusterKey)},
		{"elasticloadbalancing:DescribeTargetGroups", "all target groups", func(ctx context.Context) error {
			_, err := e.ELBv2.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{PageSize: aws.Int32(1)})
			return err
		}},
	}
}

func (e *examination) listing(group ownership.GroupARN) probe {
	return probe{"elasticloadbalancing:DescribeTargetHealth", "all target groups", func(ctx context.Context) error {
		_, err := e.ELBv2.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: aws.String(string(group))})
		return err
	}}
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

func (e *examination) delete(hash string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := e.DynamoDB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &e.Site.Table, Key: keyOf(hash), ConditionExpression: never, ExpressionAttributeNames: neverNames})
		return err
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
