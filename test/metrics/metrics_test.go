// Package metrics tests the metrics, alerts and dashboard of the controller.
package metrics

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
)

// everything is a registry of all our metrics, each with a value.
func everything(g *WithT) *prometheus.Registry {
	r := prometheus.NewRegistry()
	for _, c := range metrics.Collectors() {
		if _, isPeers := c.(metrics.Peers); isPeers {
			c = metrics.Peers{Seen: func() map[string]cluster.Peer {
				return map[string]cluster.Peer{"west": {State: ownership.ClusterActive, Silent: time.Minute}}
			}}
		}
		g.Expect(r.Register(c)).To(Succeed())
	}
	metrics.Passed("Reconciled")
	g.Expect(metrics.Step(context.Background(), "apply", func(context.Context) error { return nil })).To(Succeed())
	metrics.Changed(1, 1)
	metrics.Info("east", "v1")
	return r
}

func named(name string) metrics.Binding {
	return metrics.Binding{Namespace: "shop", Kind: "TargetGroupBinding", Name: name}
}

func gather(g *WithT, r prometheus.Gatherer) map[string][]*dto.Metric {
	families, err := r.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	byName := map[string][]*dto.Metric{}
	for _, family := range families {
		byName[family.GetName()] = family.GetMetric()
	}
	return byName
}

func labelled(metrics []*dto.Metric, name, value string) (found []*dto.Metric) {
	for _, m := range metrics {
		for _, l := range m.GetLabel() {
			if l.GetName() == name && l.GetValue() == value {
				found = append(found, m)
			}
		}
	}
	return found
}

func TestNamesFollowTheConventions(t *testing.T) {
	g := NewWithT(t)
	r := everything(g)
	named("web").Set(metrics.State{Counts: &v1beta1.TargetCounts{}})
	defer named("web").Forget()
	problems, err := testutil.GatherAndLint(r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(problems).To(BeEmpty())
	for name := range gather(g, r) {
		g.Expect(name).To(HavePrefix("target_ownership_"))
	}
}

// A binding that is gone leaves no series behind, in any metric.
func TestTheSeriesOfADeletedBindingVanish(t *testing.T) {
	g := NewWithT(t)
	r := everything(g)
	state := metrics.State{Counts: &v1beta1.TargetCounts{Held: 1}, Waiting: map[string]int{"blocked": 1}, BlockedSince: time.Now()}
	named("goes").Set(state)
	named("stays").Set(state)
	before := map[string]int{}
	for name, series := range gather(g, r) {
		if n := len(labelled(series, "binding", "goes")); n > 0 {
			before[name] = n
		}
	}
	g.Expect(before).To(Equal(map[string]int{
		"target_ownership_targets": 5, "target_ownership_binding_ready": 1,
		"target_ownership_waiting_targets": len(metrics.Waiting), "target_ownership_blocked_seconds": 1,
	}))
	named("goes").Forget()
	defer named("stays").Forget()
	for name, series := range gather(g, r) {
		g.Expect(labelled(series, "binding", "goes")).To(BeEmpty(), name)
		if before[name] > 0 {
			g.Expect(labelled(series, "binding", "stays")).NotTo(BeEmpty(), name)
		}
	}
}

// A cluster that has left does not make the others alert for ever.
func TestAClusterThatHasLeftHasNoSeries(t *testing.T) {
	g, r := NewWithT(t), prometheus.NewRegistry()
	g.Expect(r.Register(metrics.Peers{Seen: func() map[string]cluster.Peer {
		return map[string]cluster.Peer{
			"gone":   {State: ownership.ClusterDrained, Silent: time.Hour, Left: true},
			"silent": {State: ownership.ClusterDrained, Silent: time.Hour},
		}
	}})).To(Succeed())
	series := gather(g, r)["target_ownership_cluster_silent_seconds"]
	g.Expect(series).To(HaveLen(1))
	g.Expect(labelled(series, "peer", "silent")).To(HaveLen(1))
}

// The time that a target is blocked goes on while no pass is made.
func TestBlockedSecondsGoOn(t *testing.T) {
	g := NewWithT(t)
	r := everything(g)
	defer named("web").Forget()
	seconds := func() float64 {
		series := labelled(gather(g, r)["target_ownership_blocked_seconds"], "binding", "web")
		g.Expect(series).To(HaveLen(1))
		return series[0].GetGauge().GetValue()
	}
	named("web").Set(metrics.State{Counts: &v1beta1.TargetCounts{}, BlockedSince: time.Now().Add(-time.Hour)})
	first := seconds()
	g.Expect(first).To(BeNumerically(">=", 3600))
	g.Expect(seconds()).To(BeNumerically(">", first))

	named("web").Set(metrics.State{}) // a pass that ended early knows no better
	g.Expect(seconds()).To(BeNumerically(">", first))
	named("web").Set(metrics.State{Counts: &v1beta1.TargetCounts{}})
	g.Expect(seconds()).To(BeZero())
}
