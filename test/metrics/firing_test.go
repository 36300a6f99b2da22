package metrics

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"

	"target-ownership-controller/controller/metrics"
)

// troubles are series that each alert has to fire on, at minute 60, with one
// sample a minute.
var troubles = map[string]map[string]string{
	"TargetOwnershipControllerAbsent": {
		"no controller":                `some_other_metric 1x60`,
		"only that of another cluster": `target_ownership_controller_info{cluster_id="west",version="v1"} 1x60`,
		"gone":                         `target_ownership_controller_info{cluster_id="east",version="v1"} 1x30 _x30`,
	},
	"TargetOwnershipNoLeader": {
		"one cluster": `leader_election_master_status{name="target-ownership-controller-leader",pod="a"} 0x60`,
		"one of two clusters": `
			leader_election_master_status{cluster="east",name="target-ownership-controller-leader",pod="a"} 0x60
			leader_election_master_status{cluster="west",name="target-ownership-controller-leader",pod="b"} 1x60`,
	},
	"TargetOwnershipClusterNotReady": {
		"one binding": notReady("web", "ClusterNotActive", metrics.OfCluster),
		"all bindings": notReady("web", "LoadBalancerControllerActive", metrics.OfCluster) + notReady("api", "LoadBalancerControllerActive", metrics.OfCluster) +
			strings.ReplaceAll(notReady("web", "LoadBalancerControllerActive", metrics.OfCluster), "Target", "SharedTarget"),
		"for one reason after another, under one leader after another": `
			target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding="web",reason="Throttled",scope="cluster",pod="a"} 0x49 _x11
			target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding="api",reason="TableUnavailable",scope="cluster",pod="b"} _x49 0x11`,
	},
	"TargetOwnershipBindingNotReady": {
		"for one reason": notReady("web", "GroupFull", metrics.OfBinding),
		"for one reason after another, under one leader after another": `
			target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding="web",reason="Blocked",scope="binding",pod="a"} 0x49 _x11
			target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding="web",reason="Pending",scope="binding",pod="b"} _x49 0x11`,
		"beside a replica that says otherwise": notReady("web", "GroupFull", metrics.OfBinding) + `
			target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding="web",reason="Reconciled",scope="binding",pod="b"} 1x60`,
		"beside a ready one of the other kind": notReady("web", "GroupFull", metrics.OfBinding) + `
			target_ownership_binding_ready{namespace="shop",kind="SharedTargetGroupBinding",binding="web",reason="Reconciled",scope="binding"} 1x60`,
	},
	"TargetOwnershipTargetsBlocked":   {"": `target_ownership_blocked_seconds{namespace="shop",kind="TargetGroupBinding",binding="web"} 0x54 60+60x5`},
	"TargetOwnershipTargetsRefused":   {"": `target_ownership_waiting_targets{namespace="shop",kind="TargetGroupBinding",binding="web",reason="refused"} 1x60`},
	"TargetOwnershipRecordUnreadable": {"": `target_ownership_waiting_targets{namespace="shop",kind="TargetGroupBinding",binding="web",reason="unreadable"} 3x60`},
	"TargetOwnershipTargetsTakenOut":  {"": `target_ownership_target_changes_total{change="repaired"} 0x50 1x9`},
	"TargetOwnershipClusterSilent":    {"": `target_ownership_cluster_silent_seconds{peer="west",state="Active"} 0x48 60+60x11`},
	"TargetOwnershipTableFailing": {
		"the role is denied": call("DynamoDB", "PutItem", "registry", "AccessDeniedException", 6),
		"the role is denied, and many bindings ask": call("DynamoDB", "PutItem", "registry", "AccessDeniedException", 6) +
			call("DynamoDB", "Query", "ownership", "AccessDeniedException", 600),
		"throttled":           beats + call("DynamoDB", "Query", "ownership", "ThrottlingException", 2),
		"credentials are old": beats + call("DynamoDB", "Query", "ownership", "ExpiredTokenException", 2),
		"no answer":           call("DynamoDB", "PutItem", "registry", "timeout", 6),
		"of one of two clusters": `
			target_ownership_aws_call_duration_seconds_count{cluster="west",service="DynamoDB",operation="Query",purpose="ownership",outcome="ok"} 0+600x60
			target_ownership_aws_call_duration_seconds_count{cluster="east",service="DynamoDB",operation="Query",purpose="ownership",outcome="timeout"} 0+6x60`,
	},
	"TargetOwnershipLoadBalancerFailing": {
		"the role is denied":          call(elb, "DescribeTargetHealth", "ownership", "AccessDenied", 6),
		"the role is denied, of old":  call(elb, "DescribeTargetGroups", "ownership", "UnauthorizedOperation", 6),
		"a quarter of the calls fail": call(elb, "RegisterTargets", "ownership", "timeout", 5) + call(elb, "DescribeTargetHealth", "ownership", "ok", 15),
	},
	"TargetOwnershipRecordConflicts":   {"": `target_ownership_table_conflicts_total 0+1x60`},
	"TargetOwnershipHistoryIncomplete": {"": `target_ownership_history_dropped_total 0x30 5x29`},
	"TargetOwnershipHistoryFailing": {"denied": call("DynamoDB", "PutItem", "history", "AccessDeniedException", 2) +
		call("DynamoDB", "Query", "history", "ok", 20) + call("DynamoDB", "PutItem", "ownership", "ok", 20)},
}

const elb = "Elastic Load Balancing v2"

// A load balancer that does not serve us says one of these
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/CommonErrors.html),
// or nothing at all.
func init() {
	for _, outcome := range []string{
		"timeout", "failed",
		"Throttling", "ThrottlingException", "RequestThrottled", "RequestLimitExceeded", "TooManyRequestsException",
		"InternalFailure", "InternalError", "ServiceUnavailable", "UnknownError",
		"ExpiredToken", "ExpiredTokenException", "RequestExpired", "InvalidClientTokenId", "UnrecognizedClientException",
		"MissingAuthenticationToken", "SignatureDoesNotMatch", "IncompleteSignature", "OptInRequired",
	} {
		troubles["TargetOwnershipLoadBalancerFailing"][outcome] = call(elb, "RegisterTargets", "ownership", outcome, 6)
	}
}

// notReady is the series of a binding that is not ready.
func notReady(binding, reason string, scope metrics.Scope) string {
	return fmt.Sprintf(`target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding=%q,reason=%q,scope=%q} 0x60`+"\n", binding, reason, scope)
}

// call is the series of so many calls a minute.
func call(service, operation, purpose, outcome string, calls int) string {
	return fmt.Sprintf("target_ownership_aws_call_duration_seconds_count{service=%q,operation=%q,purpose=%q,outcome=%q} 0+%dx60\n",
		service, operation, purpose, outcome, calls)
}

// beats are the calls of a cluster without bindings: its own heartbeats, and
// looks at those of others.
var beats = call("DynamoDB", "PutItem", "registry", "ok", 6) + call("DynamoDB", "Query", "registry", "ok", 2)

// healthy series are those on which no alert may fire.
const healthy = `
	target_ownership_controller_info{cluster_id="east",version="v1"} 1x60
	leader_election_master_status{name="target-ownership-controller-leader",pod="a"} 1x60
	leader_election_master_status{name="target-ownership-controller-leader",pod="b"} 0x60
	target_ownership_binding_ready{namespace="shop",kind="TargetGroupBinding",binding="busy",reason="Reconciled",scope="binding"} 1x60
	target_ownership_blocked_seconds{namespace="shop",kind="TargetGroupBinding",binding="busy"} 0x58 30 60
	target_ownership_waiting_targets{namespace="shop",kind="TargetGroupBinding",binding="busy",reason="refused"} 0x60
	target_ownership_waiting_targets{namespace="shop",kind="TargetGroupBinding",binding="busy",reason="unreadable"} 0x60
	target_ownership_waiting_targets{namespace="shop",kind="TargetGroupBinding",binding="busy",reason="settling"} 9x60
	target_ownership_target_changes_total{change="registered"} 0+5x60
	target_ownership_target_changes_total{change="repaired"} 4x60
	target_ownership_cluster_silent_seconds{peer="north",state="Active"} 12x60
	target_ownership_cluster_silent_seconds{peer="old",state="Retired"} 9000+60x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="Query",purpose="ownership",outcome="ok"} 0+60x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="Query",purpose="ownership",outcome="ThrottlingException"} 0+1x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="PutItem",purpose="registry",outcome="ok"} 0+6x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="PutItem",purpose="ownership",outcome="ConditionalCheckFailedException"} 0+20x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="PutItem",purpose="history",outcome="ok"} 0+9x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="PutItem",purpose="history",outcome="ThrottlingException"} 0+1x60
	target_ownership_aws_call_duration_seconds_count{service="Elastic Load Balancing v2",operation="RegisterTargets",purpose="ownership",outcome="ok"} 0+50x60
	target_ownership_aws_call_duration_seconds_count{service="Elastic Load Balancing v2",operation="RegisterTargets",purpose="ownership",outcome="Throttling"} 0+1x60
	target_ownership_table_conflicts_total 0x30 1x29
	target_ownership_history_dropped_total 2x60
`

// elsewhere are troubles for which an alert is not meant.
var elsewhere = map[string]map[string]string{
	"TargetOwnershipClusterNotReady": {
		"the trouble of one binding": notReady("web", "GroupFull", metrics.OfBinding),
		"the cluster is drained":     notReady("web", "ClusterDrained", metrics.OfOperator),
	},
	"TargetOwnershipBindingNotReady": {
		"the table is away":      notReady("web", "TableUnavailable", metrics.OfCluster),
		"the cluster is drained": notReady("web", "ClusterDrained", metrics.OfOperator),
		"the cluster is retired": notReady("web", "ClusterRetired", metrics.OfOperator),
	},
	"TargetOwnershipTargetsBlocked": {
		"nobody could look any more": `target_ownership_blocked_seconds{namespace="shop",kind="TargetGroupBinding",binding="web"} 0+60x2 120x57`,
	},
	"TargetOwnershipTableFailing": {
		"only the history is denied": call("DynamoDB", "PutItem", "history", "AccessDeniedException", 60) +
			call("DynamoDB", "Query", "history", "AccessDeniedException", 60) + call("DynamoDB", "Query", "ownership", "ok", 6),
		"only the history is throttled":       beats + call("DynamoDB", "PutItem", "history", "ThrottlingException", 60),
		"two clusters have one ID":            beats + call("DynamoDB", "PutItem", "registry", "ConditionalCheckFailedException", 6),
		"heartbeats given up at the end":      beats + call("DynamoDB", "PutItem", "registry", "canceled", 6),
		"the role lacks the key of one group": beats + call("DynamoDB", "Query", "ownership", "AccessDeniedException", 2),
		"conditions fail":                     beats + call("DynamoDB", "PutItem", "ownership", "ConditionalCheckFailedException", 20),
		"calls given up at the end":           beats + call("DynamoDB", "Query", "ownership", "canceled", 20),
	},
	"TargetOwnershipLoadBalancerFailing": {
		"one group was deleted":     call(elb, "DescribeTargetGroups", "ownership", "TargetGroupNotFound", 6),
		"one target is refused":     call(elb, "RegisterTargets", "ownership", "InvalidTarget", 6),
		"one group is full":         call(elb, "RegisterTargets", "ownership", "TooManyTargets", 6),
		"the role lacks one group":  call(elb, "RegisterTargets", "ownership", "AccessDenied", 6),
		"calls given up at the end": call(elb, "RegisterTargets", "ownership", "canceled", 6),
	},
	"TargetOwnershipHistoryFailing": {
		"only reads are denied":     call("DynamoDB", "Query", "history", "AccessDeniedException", 60) + call("DynamoDB", "PutItem", "history", "ok", 20),
		"calls given up at the end": call("DynamoDB", "PutItem", "history", "canceled", 6),
		"only records are denied":   call("DynamoDB", "PutItem", "history", "ok", 6) + call("DynamoDB", "PutItem", "ownership", "AccessDeniedException", 60),
		"as much as the table takes": call("DynamoDB", "PutItem", "history", "ThrottlingException", 6) +
			call("DynamoDB", "PutItem", "history", "ok", 6),
	},
	"TargetOwnershipHistoryIncomplete": {
		"what is queued may still be written": call("DynamoDB", "PutItem", "history", "AccessDeniedException", 2),
	},
}

// Each alert fires on the trouble that it is for, and on nothing else.
func TestAlertsFire(t *testing.T) {
	for _, r := range alerts(t) {
		NewWithT(t).Expect(troubles[r.Alert]).NotTo(BeEmpty(), r.Alert)
		for name, series := range troubles[r.Alert] {
			t.Run(r.Alert+"/"+name, func(t *testing.T) {
				g, fired := NewWithT(t), firing(t, r, series)
				g.Expect(fired).To(HaveLen(1))
				for _, text := range r.Annotations {
					for _, used := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(text, -1) {
						g.Expect(fired[0].Has(used[1])).To(BeTrue(), "%s has no label %s: %s", fired[0], used[1], text)
					}
				}
			})
		}
		calm := map[string]string{"healthy": healthy}
		maps.Copy(calm, elsewhere[r.Alert])
		for name, series := range calm {
			t.Run(r.Alert+"/not/"+name, func(t *testing.T) {
				NewWithT(t).Expect(firing(t, r, series)).To(BeEmpty())
			})
		}
	}
}

// blankLines end what is loaded.
var blankLines = regexp.MustCompile(`\s*\n\s*`)

// firing are the labels for which the expression has held for as long as the
// alert wants it to, at minute 60.
func firing(t *testing.T, r rule, series string) []labels.Labels {
	t.Helper()
	g := NewWithT(t)
	store := promqltest.LoadedStorage(t, "load 1m"+blankLines.ReplaceAllString("\n"+series, "\n"))
	defer store.Close()
	wait := time.Duration(0)
	if r.For != "" {
		var err error
		wait, err = time.ParseDuration(r.For)
		g.Expect(err).NotTo(HaveOccurred())
	}
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	var held []labels.Labels
	for minute := time.Hour - wait; minute <= time.Hour; minute += time.Minute {
		query, err := engine.NewInstantQuery(t.Context(), store, nil, r.Expr, time.Unix(0, 0).Add(minute))
		g.Expect(err).NotTo(HaveOccurred())
		result := query.Exec(t.Context())
		g.Expect(result.Err).NotTo(HaveOccurred())
		vector, err := result.Vector()
		g.Expect(err).NotTo(HaveOccurred())
		var now []labels.Labels
		for _, sample := range vector {
			since := slices.ContainsFunc(held, func(l labels.Labels) bool { return labels.Equal(l, sample.Metric) })
			if since || minute == time.Hour-wait {
				now = append(now, sample.Metric.Copy())
			}
		}
		query.Close()
		held = now
	}
	return held
}
