package binding

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	dto "github.com/prometheus/client_model/go"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/audit"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
)

// series are those that are about bindings of the site, by name and the values
// of their labels, but for the namespace.
func (s *site) series() map[string]float64 {
	s.t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	s.Expect(err).NotTo(HaveOccurred())
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if name, ours := s.seriesName(family.GetName(), m); ours {
				found[name] = m.GetGauge().GetValue()
			}
		}
	}
	return found
}

func (s *site) seriesName(name string, m *dto.Metric) (string, bool) {
	ours := false
	for _, l := range m.GetLabel() {
		if l.GetName() == "namespace" {
			ours = l.GetValue() == s.namespace
		} else {
			name += " " + l.GetValue()
		}
	}
	return name, ours
}

// What the metrics say of a binding whose target is blocked, and of one that is
// gone: nothing.
func TestMetricsOfABinding(t *testing.T) {
	w := newWorld(t)
	east, west := w.cluster("east"), w.cluster("west")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.reconciles("web")
	east.deletes("web")
	east.fails(connectionReset, "DeregisterTargets")
	east.reconciles("web")

	west.runs("web", "10.0.0.1", "10.0.0.2")
	west.binds("web")
	west.reconciles("web")
	west.Expect(west.series()).To(And(
		HaveKeyWithValue("target_ownership_binding_ready web TargetGroupBinding Blocked binding", 0.0),
		HaveKeyWithValue("target_ownership_targets web TargetGroupBinding held", 2.0),
		HaveKeyWithValue("target_ownership_targets web TargetGroupBinding blocked", 1.0),
		HaveKeyWithValue("target_ownership_waiting_targets web TargetGroupBinding blocked", 1.0),
		HaveKeyWithValue("target_ownership_waiting_targets web TargetGroupBinding settling", 0.0),
		HaveKey("target_ownership_blocked_seconds web TargetGroupBinding"),
	))
	w.passes(2 * time.Minute) // east counts as dead
	west.settles("web")
	west.Expect(west.series()).To(And(
		HaveKeyWithValue("target_ownership_binding_ready web TargetGroupBinding Reconciled binding", 1.0),
		HaveKeyWithValue("target_ownership_waiting_targets web TargetGroupBinding blocked", 0.0),
		HaveKeyWithValue("target_ownership_blocked_seconds web TargetGroupBinding", 0.0),
	))

	west.deletes("web")
	west.settles("web")
	west.expectGone("web")
	west.Expect(west.series()).To(BeEmpty())
}

// What stops all bindings is no trouble of any.
func TestMetricsBehindAClosedGate(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web")
	east.gate.closed = &cluster.NotClaimedError{ID: "east", Err: ownership.ErrForbidden}
	east.reconciles("web")
	w.Expect(east.series()).To(HaveKeyWithValue("target_ownership_binding_ready web TargetGroupBinding AccessDenied cluster", 0.0))
	east.gate.closed = nil
	east.reconciles("web")
	w.Expect(east.series()).To(And(
		HaveKeyWithValue("target_ownership_binding_ready web TargetGroupBinding Reconciled binding", 1.0),
		Not(HaveKey("target_ownership_binding_ready web TargetGroupBinding AccessDenied cluster")),
	))

	beside := east.beside()
	beside.binds("web")
	beside.reconciles("web")
	w.Expect(beside.series()).To(HaveKeyWithValue("target_ownership_binding_ready web SharedTargetGroupBinding Reconciled binding", 1.0))
}

// The whole controller writes the history by itself.
func TestTheControllerWritesHistory(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.controls(func(o *controller.Options) { o.Trail = audit.NewTrail(w.store, retention) })
	east.runs("web", "10.0.0.1")
	east.binds("web")
	w.Eventually(func() []string { return w.history() }).Should(Equal([]string{
		"east web",
		"  claimed [10.0.0.1:8080]: the endpoint is live",
		"  registered [10.0.0.1:8080]: not confirmed to be registered",
	}))
}
