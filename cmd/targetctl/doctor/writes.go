package doctor

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/dynamo"
)

// groupsPerRun bounds in how many groups of clusters writes are tried. The calls
// are taken from what AWS grants the account for the changes of all controllers.
const groupsPerRun = 5

// writes tries what a controller may change, in the groups that were named and
// in some of the clusters that were.
func (e *examination) writes(ctx context.Context) {
	for _, p := range e.registryWrites() {
		e.try(ctx, p)
	}
	groups := e.writable(ctx)
	if len(groups) == 0 {
		e.add(admin.SeverityNote, CheckPermission, "groups", "what may be written about a group, and registered in it, was not tried: no group was named, and no cluster that has records",
			"give --cluster with the ID of the cluster whose credentials these are, or --group")
		return
	}
	for _, group := range groups {
		for _, p := range e.groupWrites(group) {
			e.try(ctx, p)
		}
	}
	e.add(admin.SeverityNote, CheckPermission, deregister, "whether it is allowed was not tried: only a release by the protocol makes that call",
		fmt.Sprintf("aws iam simulate-principal-policy --policy-source-arn ROLE --action-names %s --resource-arns %s tells; ROLE is the ARN of the role", deregister, groups[0]))
}

const deregister = "elasticloadbalancing:DeregisterTargets"

func (e *examination) writable(ctx context.Context) []ownership.GroupARN {
	groups := e.ofClusters(ctx, e.Clusters)
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if more := len(groups) - groupsPerRun; more > 0 {
		e.add(admin.SeverityNote, CheckPermission, "groups", fmt.Sprintf("writes were tried in %d of the %d groups of the clusters, to spare the limits of AWS", groupsPerRun, len(groups)), "name others with --group")
		groups = groups[:groupsPerRun]
	}
	groups = append(groups, e.Groups...)
	slices.Sort(groups)
	return slices.Compact(groups)
}

func (e *examination) registryWrites() []probe {
	return []probe{
		{"dynamodb:PutItem", "the table", e.put(dynamo.ClusterKey)},
		{"dynamodb:DeleteItem", "the table", e.delete(dynamo.ClusterKey)},
	}
}

// groupWrites try each hash key, since roles may be limited to some of them.
func (e *examination) groupWrites(group ownership.GroupARN) []probe {
	arn := string(group)
	past := dynamo.HistoryPrefix + arn
	return []probe{
		{"dynamodb:PutItem", "the records of " + arn, e.put(arn)},
		{"dynamodb:DeleteItem", "the records of " + arn, e.delete(arn)},
		{"dynamodb:PutItem", "the history of " + arn, e.put(past)},
		{query, "the history of " + arn, e.query(nil, dynamo.AttrTargetGroup, past)},
		{"elasticloadbalancing:RegisterTargets", arn, func(ctx context.Context) error {
			_, err := e.ELBv2.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: &arn, Targets: []elbv2types.TargetDescription{{Id: aws.String(nobody)}}})
			return err
		}},
	}
}
