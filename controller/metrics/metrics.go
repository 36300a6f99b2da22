// Package metrics holds the Prometheus metrics of the controller. Those of
// the work queue, the leader lease and the Go runtime come from
// controller-runtime.
package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/tracing"
)

var (
	changes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "target_ownership_target_changes_total",
		Help: "Targets registered, deregistered, and found missing in the group by a comparison (repaired).",
	}, []string{"change"})

	passes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "target_ownership_passes_total",
		Help: "Passes over bindings by outcome: the reason of the condition Ready, or Released when the binding was let go.",
	}, []string{"outcome"})

	steps = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "target_ownership_pass_step_duration_seconds",
		Help:    "Duration of the steps of a pass (bind, desired, observe, confirm, apply, status) by outcome: ok or failed.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
	}, []string{"step", "outcome"})

	conflicts = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "target_ownership_table_conflicts_total",
		Help: "Passes that ended because somebody else wrote the record of the binding: a second leader, or a restored table.",
	})

	historyDropped = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "target_ownership_history_dropped_total",
		Help: "Entries of history that were not written, since the table did not take them in time.",
	})

	info = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "target_ownership_controller_info",
		Help: "1, with the cluster ID and the version of the controller.",
	}, []string{"cluster_id", "version"})

	calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "target_ownership_aws_call_duration_seconds",
		Help:    "Duration of AWS calls, retries included, by service, operation, purpose (history, on which nothing depends; registry, of the clusters; or ownership, of one group or binding) and outcome: ok, an AWS error code, timeout, canceled (by us), or failed (no answer).",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
	}, []string{"service", "operation", "purpose", "outcome"})
)

// ours are all metrics but those of Peers.
var ours = []prometheus.Collector{
	targets, ready, changes, waiting, passes, steps, conflicts, historyDropped, info, calls, blocked,
}

// An increase is seen only of a series that has been there before.
func init() {
	metrics.Registry.MustRegister(ours...)
	for _, change := range []string{"registered", "deregistered", "repaired"} {
		changes.WithLabelValues(change)
	}
}

// Collectors are all metrics of the controller, for their documentation.
func Collectors() []prometheus.Collector { return append(slices.Clone(ours), Peers{}) }

var silent = prometheus.NewDesc(
	"target_ownership_cluster_silent_seconds",
	"Seconds that the heartbeat of another cluster has stood still, seen on this one's clock, by its cluster ID and state. A drained cluster that is silent and has no targets has left, and has no series.",
	[]string{"peer", "state"}, nil)

// Peers reports what is seen of the other clusters.
type Peers struct {
	Seen func() map[string]cluster.Peer
}

// Describe implements prometheus.Collector.
func (Peers) Describe(descs chan<- *prometheus.Desc) { descs <- silent }

// Collect implements prometheus.Collector.
func (p Peers) Collect(values chan<- prometheus.Metric) {
	for id, peer := range p.Seen() {
		if peer.Left {
			continue
		}
		values <- prometheus.MustNewConstMetric(silent, prometheus.GaugeValue, peer.Silent.Seconds(), id, string(peer.State))
	}
}

// Changed counts the targets of a pass.
func Changed(registered, deregistered int) {
	changes.WithLabelValues("registered").Add(float64(registered))
	changes.WithLabelValues("deregistered").Add(float64(deregistered))
}

// Repaired counts targets that a comparison found missing.
func Repaired(n int) { changes.WithLabelValues("repaired").Add(float64(n)) }

// Passed counts a pass by its outcome.
func Passed(outcome string) { passes.WithLabelValues(outcome).Inc() }

// Step takes a step of a pass, observes how long it took and whether it failed,
// and makes it a part of the trace of the pass.
func Step(ctx context.Context, name string, do func(context.Context) error) error {
	began := time.Now()
	ctx, span := tracing.Begin(ctx, name)
	err := do(ctx)
	tracing.End(span, err)
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	steps.WithLabelValues(name, outcome).Observe(time.Since(began).Seconds())
	return err
}

// Conflict counts a pass that lost its record to somebody else.
func Conflict() { conflicts.Inc() }

// HistoryDropped counts entries of history that nobody will read.
func HistoryDropped(n int) { historyDropped.Add(float64(n)) }

// Info says which cluster this is, and which version runs in it.
func Info(clusterID, version string) {
	info.Reset()
	info.WithLabelValues(clusterID, version).Set(1)
}
