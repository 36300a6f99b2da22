// Package metrics holds the Prometheus metrics of the controller. Those of
// the work queue, the leader lease and the Go runtime come from
// controller-runtime.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
)

var (
	targets = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "target_ownership_targets",
		Help: "Targets of a binding by state: held, pending, blocked, shared (with another owner), external (in the group and recorded by nobody).",
	}, []string{"namespace", "binding", "state"})

	ready = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "target_ownership_binding_ready",
		Help: "1 if the condition Ready of the binding is True, else 0.",
	}, []string{"namespace", "binding"})

	changes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "target_ownership_target_changes_total",
		Help: "Targets registered, deregistered, and found missing in the group by a comparison (repaired).",
	}, []string{"change"})

	calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "target_ownership_aws_call_duration_seconds",
		Help:    "Duration of AWS calls, retries included, by service, operation and outcome: ok, an AWS error code, timeout, canceled (by us), or failed (no answer).",
		Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
	}, []string{"service", "operation", "outcome"})
)

var historyDropped = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "target_ownership_history_dropped_total",
	Help: "Entries of history that were not written, since the table did not take them in time.",
})

func init() {
	metrics.Registry.MustRegister(targets, ready, changes, calls, historyDropped)
}

// HistoryDropped counts entries of history that nobody will read.
func HistoryDropped(n int) { historyDropped.Add(float64(n)) }

var silent = prometheus.NewDesc(
	"target_ownership_cluster_silent_seconds",
	"Seconds that the heartbeat of another cluster has stood still, seen on this one's clock, by cluster ID and state.",
	[]string{"cluster", "state"}, nil)

// Peers reports what is seen of the other clusters.
type Peers struct {
	Seen func() map[string]cluster.Peer
}

// Describe implements prometheus.Collector.
func (Peers) Describe(descs chan<- *prometheus.Desc) { descs <- silent }

// Collect implements prometheus.Collector.
func (p Peers) Collect(values chan<- prometheus.Metric) {
	for id, peer := range p.Seen() {
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

// Binding sets the gauges of a binding.
func Binding(namespace, name string, counts *v1beta1.TargetCounts, isReady bool) {
	if counts != nil {
		for state, n := range map[string]int32{
			"held": counts.Held, "pending": counts.Pending, "blocked": counts.Blocked,
			"shared": counts.Shared, "external": counts.External,
		} {
			targets.WithLabelValues(namespace, name, state).Set(float64(n))
		}
	}
	value := 0.0
	if isReady {
		value = 1
	}
	ready.WithLabelValues(namespace, name).Set(value)
}

// Forget removes the gauges of a binding that is gone.
func Forget(namespace, name string) {
	labels := prometheus.Labels{"namespace": namespace, "binding": name}
	targets.DeletePartialMatch(labels)
	ready.Delete(labels)
}
