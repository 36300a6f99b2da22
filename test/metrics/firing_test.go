package metrics

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// planted are series that each alert has to fire on, at minute 60, with one
// sample a minute; and healthy ones on which no alert may fire.
var planted = map[string]string{
	"TargetOwnershipControllerAbsent":    `some_other_metric 1x60`,
	"TargetOwnershipNoLeader":            `leader_election_master_status{name="target-ownership-controller-leader",pod="a"} 0x60`,
	"TargetOwnershipBindingNotReady":     `target_ownership_binding_ready{namespace="shop",binding="web"} 0x60`,
	"TargetOwnershipTargetsBlocked":      `target_ownership_blocked_seconds{namespace="shop",binding="web"} 0+60x60`,
	"TargetOwnershipTargetsRefused":      `target_ownership_waiting_targets{namespace="shop",binding="web",reason="refused"} 1x60`,
	"TargetOwnershipRecordUnreadable":    `target_ownership_waiting_targets{namespace="shop",binding="web",reason="unreadable"} 3x60`,
	"TargetOwnershipTargetsTakenOut":     `target_ownership_target_changes_total{change="repaired"} 0x50 1x9`,
	"TargetOwnershipClusterSilent":       `target_ownership_cluster_silent_seconds{cluster="west",state="Active"} 0+60x60`,
	"TargetOwnershipTableFailing":        `target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="Query",outcome="AccessDeniedException"} 0+6x60`,
	"TargetOwnershipLoadBalancerFailing": `target_ownership_aws_call_duration_seconds_count{service="Elastic Load Balancing v2",operation="RegisterTargets",outcome="Throttling"} 0+6x60`,
	"TargetOwnershipRecordConflicts":     `target_ownership_table_conflicts_total 0+1x60`,
	"TargetOwnershipHistoryIncomplete":   `target_ownership_history_dropped_total 0x30 5x29`,
}

const healthy = `
	target_ownership_controller_info{cluster="east",version="v1"} 1x60
	leader_election_master_status{name="target-ownership-controller-leader",pod="a"} 1x60
	leader_election_master_status{name="target-ownership-controller-leader",pod="b"} 0x60
	target_ownership_binding_ready{namespace="shop",binding="busy"} 1x60
	target_ownership_blocked_seconds{namespace="shop",binding="busy"} 0x58 30 60
	target_ownership_waiting_targets{namespace="shop",binding="busy",reason="refused"} 0x60
	target_ownership_waiting_targets{namespace="shop",binding="busy",reason="unreadable"} 0x60
	target_ownership_waiting_targets{namespace="shop",binding="busy",reason="settling"} 9x60
	target_ownership_target_changes_total{change="registered"} 0+5x60
	target_ownership_target_changes_total{change="repaired"} 4x60
	target_ownership_cluster_silent_seconds{cluster="north",state="Active"} 12x60
	target_ownership_cluster_silent_seconds{cluster="old",state="Retired"} 9000+60x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="Query",outcome="ok"} 0+60x60
	target_ownership_aws_call_duration_seconds_count{service="DynamoDB",operation="PutItem",outcome="ConditionalCheckFailedException"} 0+20x60
	target_ownership_aws_call_duration_seconds_count{service="Elastic Load Balancing v2",operation="RegisterTargets",outcome="ok"} 0+50x60
	target_ownership_aws_call_duration_seconds_count{service="Elastic Load Balancing v2",operation="RegisterTargets",outcome="Throttling"} 0+1x60
	target_ownership_table_conflicts_total 0x30 1x29
	target_ownership_history_dropped_total 2x60
`

// Each alert fires on the trouble that it is for, and on nothing else.
func TestAlertsFire(t *testing.T) {
	rules := alerts(t)
	names := []string{}
	for _, r := range rules {
		names = append(names, r.Alert)
		t.Run(r.Alert, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(firing(t, r, planted[r.Alert])).To(BeTrue(), "on what was planted")
			g.Expect(firing(t, r, healthy)).To(BeFalse(), "on healthy series")
		})
	}
	NewWithT(t).Expect(planted).To(HaveLen(len(names)))
}

// firing reports whether the expression has held for as long as the alert
// wants it to, at minute 60.
func firing(t *testing.T, r rule, series string) bool {
	t.Helper()
	g := NewWithT(t)
	store := promqltest.LoadedStorage(t, "load 1m\n"+strings.TrimSpace(series))
	defer store.Close()
	wait := time.Duration(0)
	if r.For != "" {
		var err error
		wait, err = time.ParseDuration(r.For)
		g.Expect(err).NotTo(HaveOccurred())
	}
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	for minute := time.Hour - wait; minute <= time.Hour; minute += time.Minute {
		query, err := engine.NewInstantQuery(t.Context(), store, nil, r.Expr, time.Unix(0, 0).Add(minute))
		g.Expect(err).NotTo(HaveOccurred())
		result := query.Exec(t.Context())
		g.Expect(result.Err).NotTo(HaveOccurred())
		vector, err := result.Vector()
		g.Expect(err).NotTo(HaveOccurred())
		query.Close()
		if len(vector) == 0 {
			return false
		}
	}
	return true
}
