package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"target-ownership-controller/controller/api/v1beta1"
)

// ofBinding are the labels of a series about one binding, as kubectl wants
// them: -n NAMESPACE describe KIND BINDING.
var ofBinding = []string{"namespace", "kind", "binding"}

var (
	targets = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "target_ownership_targets",
		Help: "Targets of a binding by state: held, pending, blocked, shared (with another owner), external (in the group and recorded by nobody).",
	}, with("state"))

	waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "target_ownership_waiting_targets",
		Help: "Targets of a binding that wait to enter or to leave the group, by reason: blocked (another owner is releasing it), unreadable (a record of the group cannot be read), settling (an earlier call may still land), refused (by the load balancer, or the group is full), failed (the last call for it, for another reason), too_large (the record has no room).",
	}, with("reason"))

	ready = newReadiness(prometheus.NewDesc(
		"target_ownership_binding_ready",
		"1 if the condition Ready of the binding is True, else 0, with the reason of the condition. The scope says whose trouble it is: binding, cluster (then it is that of all its bindings), or operator (who has drained or retired the cluster).",
		with("reason", "scope"), nil))

	blocked = newSince(prometheus.NewDesc(
		"target_ownership_blocked_seconds",
		"For how long the target of a binding that is blocked the longest has been seen to wait for another owner to release it; 0 if none is blocked. It stands still while the table cannot be read.",
		with(), nil))
)

func with(labels ...string) []string {
	return append(ofBinding[:len(ofBinding):len(ofBinding)], labels...)
}

// Binding names a binding.
type Binding struct{ Namespace, Kind, Name string }

func (b Binding) labels(more ...string) []string {
	return append([]string{b.Namespace, b.Kind, b.Name}, more...)
}

// Waiting are the reasons for which targets wait, as label values.
var Waiting = []string{"blocked", "unreadable", "settling", "refused", "failed", "too_large"}

// Scope is whose trouble it is that a binding is not ready.
type Scope string

// The scopes.
const (
	OfBinding  Scope = "binding"
	OfCluster  Scope = "cluster"
	OfOperator Scope = "operator"
)

// State is what a pass found of a binding.
type State struct {
	Ready  bool
	Reason string // of the condition Ready
	Scope  Scope
	// Counts are nil after a pass that ended early; what was known before
	// stays, also of the next two.
	Counts *v1beta1.TargetCounts
	// Waiting counts targets by a reason of [Waiting].
	Waiting map[string]int
	// BlockedSince is when the first of the blocked targets was, as if each
	// look had come within [Fresh] of the one before; zero if none is blocked.
	BlockedSince time.Time
}

// Set sets the gauges of the binding.
func (b Binding) Set(s State) {
	ready.set(judgement{s.Ready, s.Reason, s.Scope}, b.labels()...)
	if s.Counts == nil {
		return
	}
	for state, n := range map[string]int32{
		"held": s.Counts.Held, "pending": s.Counts.Pending, "blocked": s.Counts.Blocked,
		"shared": s.Counts.Shared, "external": s.Counts.External,
	} {
		targets.WithLabelValues(b.labels(state)...).Set(float64(n))
	}
	for _, reason := range Waiting {
		waiting.WithLabelValues(b.labels(reason)...).Set(float64(s.Waiting[reason]))
	}
	blocked.set(s.BlockedSince, b.labels()...)
}

// Forget removes the gauges of the binding, which is gone.
func (b Binding) Forget() {
	labels := prometheus.Labels{}
	for i, value := range b.labels() {
		labels[ofBinding[i]] = value
	}
	targets.DeletePartialMatch(labels)
	waiting.DeletePartialMatch(labels)
	ready.forget(b.labels()...)
	blocked.forget(b.labels()...)
}
