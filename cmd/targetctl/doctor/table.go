package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/awserror"
	"target-ownership-controller/ownership/dynamo"
)

// table compares the table with its definition, and reports whether its items
// can be looked at.
func (e *examination) table(ctx context.Context) (usable bool, err error) {
	out, err := e.Doctor.Table.Describe(ctx)
	switch {
	case errors.Is(err, ownership.ErrTableMissing):
		e.add(admin.SeverityError, CheckTableMissing, e.where(),
			fmt.Sprintf("there is no such table in region %s; the credentials are accepted there", e.Region),
			fmt.Sprintf("correct --table or --region: aws dynamodb list-tables --region %s lists what is there; or create it with the Terraform module or targetctl table create --region %s --table %s", e.Region, e.Region, e.Site.Table))
		return false, nil
	case denied(err):
		e.lacks("dynamodb:DescribeTable", "the table", err)
		return true, nil
	case err != nil:
		return false, err
	}
	e.clock(out.ResultMetadata)
	return e.shape(out.Table), nil
}

func (e *examination) shape(table *types.TableDescription) (usable bool) {
	problems := dynamo.Definition(e.Site.Table).Problems(table)
	for _, p := range []struct {
		aspect dynamo.Aspect
		check  admin.Check
		do     string
	}{
		{dynamo.AspectStatus, CheckTableStatus, "wait until it is active: " + e.aws("wait table-exists", "")},
		{dynamo.AspectReplicas, CheckTableReplicas, "make it a table of one region: " + e.dropReplicas(table)},
		{dynamo.AspectKeys, CheckTableKeys, fmt.Sprintf("keys cannot be changed: make another table with targetctl table create --region %s --table NAME, and give all controllers --table=NAME", e.Region)},
		{dynamo.AspectIndex, CheckTableIndex, e.makeIndex(table)},
	} {
		if err := problems[p.aspect]; err != nil {
			e.add(admin.SeverityError, p.check, e.where(), err.Error(), p.do)
		}
	}
	e.billing(table)
	e.indexless = problems[dynamo.AspectIndex] != nil
	return problems[dynamo.AspectStatus] == nil && problems[dynamo.AspectKeys] == nil
}

func (e *examination) dropReplicas(table *types.TableDescription) string {
	var updates []string
	for _, r := range table.Replicas {
		if region := aws.ToString(r.RegionName); region != e.Region {
			updates = append(updates, fmt.Sprintf(`{"Delete":{"RegionName":%q}}`, region))
		}
	}
	return e.aws("update-table", fmt.Sprintf(" --replica-updates '[%s]'", strings.Join(updates, ",")))
}

// makeIndex is the command for an index that is missing, or has other keys.
func (e *examination) makeIndex(table *types.TableDescription) string {
	index := dynamo.Definition(e.Site.Table).Index
	create := e.aws("update-table", fmt.Sprintf(` --attribute-definitions AttributeName=%s,AttributeType=S AttributeName=%s,AttributeType=S --global-secondary-index-updates '[{"Create":{"IndexName":%q,"KeySchema":[{"AttributeName":%q,"KeyType":"HASH"},{"AttributeName":%q,"KeyType":"RANGE"}],"Projection":{"ProjectionType":%q}}}]'`,
		index.HashKey, index.RangeKey, index.Name, index.HashKey, index.RangeKey, index.Projection))
	for _, there := range table.GlobalSecondaryIndexes {
		switch {
		case aws.ToString(there.IndexName) != index.Name:
		case there.IndexStatus == types.IndexStatusCreating:
			return "wait until it is active: " + e.aws("describe-table", " --query Table.GlobalSecondaryIndexes[].IndexStatus")
		default:
			return "make it anew: " + e.aws("update-table", fmt.Sprintf(` --global-secondary-index-updates '[{"Delete":{"IndexName":%q}}]'`, index.Name)) + ", and when it is gone " + create
		}
	}
	return create
}

// billing notes capacity that somebody has to look after.
func (e *examination) billing(table *types.TableDescription) {
	if s := table.BillingModeSummary; s != nil && s.BillingMode == types.BillingModePayPerRequest {
		return
	}
	if t := table.ProvisionedThroughput; t != nil && aws.ToInt64(t.WriteCapacityUnits) > 0 {
		e.add(admin.SeverityNote, CheckTableBilling, e.where(),
			fmt.Sprintf("its capacity is provisioned, %d reads and %d writes per second: a deployment that needs more is throttled, and waits", aws.ToInt64(t.ReadCapacityUnits), aws.ToInt64(t.WriteCapacityUnits)),
			"let it scale by itself, or pay per request: "+e.aws("update-table", " --billing-mode PAY_PER_REQUEST"))
	}
}

// timeToLive looks whether DynamoDB removes old history.
func (e *examination) timeToLive(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	attribute := dynamo.Definition(e.Site.Table).TTL
	out, err := e.DynamoDB.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(e.Site.Table)})
	if denied(err) {
		e.add(admin.SeverityNote, CheckTableTTL, e.where(), "whether old history expires was not looked at: "+awserror.Text(err), "allow dynamodb:DescribeTimeToLive to who runs doctor")
		return
	}
	if err != nil || out.TimeToLiveDescription == nil {
		return // local engines have none
	}
	d := out.TimeToLiveDescription
	on := d.TimeToLiveStatus == types.TimeToLiveStatusEnabled || d.TimeToLiveStatus == types.TimeToLiveStatusEnabling
	if on && aws.ToString(d.AttributeName) == attribute {
		return
	}
	e.add(admin.SeverityWarning, CheckTableTTL, e.where(), "time to live is not on for the attribute "+attribute+", so that history is kept, and paid for, for ever",
		e.aws("update-time-to-live", fmt.Sprintf(" --time-to-live-specification Enabled=true,AttributeName=%s", attribute)))
}

// machineSkew is how far the clock of this machine may be off. The date of an
// answer is in whole seconds.
const machineSkew = 5 * time.Second

// clock compares the clock of this machine with the date of an answer.
func (e *examination) clock(answer middleware.Metadata) {
	server, dated := awsmiddleware.GetServerTime(answer)
	ours, timed := awsmiddleware.GetResponseAt(answer)
	if !dated || !timed {
		return
	}
	e.offset = server.Sub(ours)
	if e.offset.Abs() <= machineSkew {
		return
	}
	direction := "behind"
	if e.offset < 0 {
		direction = "ahead"
	}
	e.add(admin.SeverityWarning, CheckMachineClock, "this machine", fmt.Sprintf("its clock is %s by %s, compared with the answer of the table: ages that are shown are wrong by that", direction, e.offset.Abs().Round(time.Second)),
		"set it: chronyc makestep, or timedatectl set-ntp true")
}
