// Package doctor finds what is wrong with a table, with the permissions of the
// credentials, with clocks, and with what is written in the table, and says
// what to do about each. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/awserror"
	"target-ownership-controller/ownership/dynamo"
)

// The checks, beside those of [admin.Diagnose].
const (
	CheckTableMissing  admin.Check = "TableMissing"
	CheckTableStatus   admin.Check = "TableStatus"
	CheckTableReplicas admin.Check = "TableReplicas"
	CheckTableKeys     admin.Check = "TableKeys"
	CheckTableIndex    admin.Check = "TableIndex"
	CheckTableBilling  admin.Check = "TableBilling"
	CheckTableTTL      admin.Check = "TableTTL"
	CheckTableUnread   admin.Check = "TableUnread"
	CheckPermission    admin.Check = "Permission"
	CheckMachineClock  admin.Check = "MachineClock"
	CheckClusterName   admin.Check = "ClusterName"
)

// Checks are all checks.
func Checks() []admin.Check {
	return append([]admin.Check{
		CheckTableMissing, CheckTableStatus, CheckTableReplicas, CheckTableKeys, CheckTableIndex, CheckTableBilling,
		CheckTableTTL, CheckTableUnread, CheckPermission, CheckMachineClock, CheckClusterName,
	}, admin.Checks...)
}

// callTimeout bounds each call, retries of the SDK included.
const callTimeout = 10 * time.Second

// Doctor looks at one site.
type Doctor struct {
	Site     awsconfig.Site // with the region
	DynamoDB *dynamodb.Client
	ELBv2    *elasticloadbalancingv2.Client
	Table    *dynamo.Table
	Lister   admin.Lister
	Scope
}

// Scope is how far to look.
type Scope struct {
	// Watch is for how long heartbeats are counted.
	Watch time.Duration
	// Clusters and Groups are looked at though the registry, or no record, names
	// them.
	Clusters []string
	Groups   []ownership.GroupARN
	// Writes also tries what a controller may change, in the groups of Clusters
	// and in Groups alone: others are other people's.
	Writes bool
}

// Report is what was found.
type Report struct {
	Table    string          `json:"table"`
	Region   string          `json:"region"`
	Findings []admin.Finding `json:"findings"`
}

// examination is one run.
type examination struct {
	Doctor
	Report
	offset    time.Duration // what the clock of the table is ahead of ours
	indexless bool          // the index cannot be read, and so the records cannot be found
}

// Run looks at everything that can be looked at. An error says that nothing
// could be: there are no credentials, or nobody answers.
func (d Doctor) Run(ctx context.Context) (Report, error) {
	e := &examination{Doctor: d, Report: Report{Table: d.Site.Table, Region: d.Site.Region, Findings: []admin.Finding{}}}
	usable, err := e.table(ctx)
	if err != nil {
		return e.Report, err
	}
	if usable {
		e.timeToLive(ctx)
		groups, readable := e.permissions(ctx)
		if readable && !e.indexless {
			e.content(ctx, groups)
		}
	}
	admin.SortFindings(e.Findings)
	return e.Report, nil
}

func (e *examination) add(severity admin.Severity, check admin.Check, where, what, do string) {
	e.Findings = append(e.Findings, admin.Finding{Severity: severity, Check: check, Where: where, What: what, Do: do})
}

// aws is a command of the AWS CLI on the table.
func (e *examination) aws(operation, arguments string) string {
	return fmt.Sprintf("aws dynamodb %s --region %s --table-name %s%s", operation, e.Region, e.Site.Table, arguments)
}

func (e *examination) where() string { return "table " + e.Site.Table }

// content looks at what is written in the table.
func (e *examination) content(ctx context.Context, extra []ownership.GroupARN) {
	watched, err := admin.Clusters(ctx, e.Doctor.Table, e.Watch)
	if err == nil {
		var survey admin.Survey
		if survey, err = admin.TakeSurvey(ctx, e.Doctor.Table, e.Lister, extra); err == nil {
			survey.ClusterList = watched
			place := admin.Place{Table: e.Site.Table, Region: e.Region}
			e.Findings = append(e.Findings, admin.Diagnose(survey, place, e.offset)...)
			return
		}
	}
	e.add(admin.SeverityError, CheckTableUnread, e.where(), "what is in it could not be read: "+awserror.Text(err), "correct what else was found, and run it again")
}
