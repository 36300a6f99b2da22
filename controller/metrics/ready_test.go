package metrics_test

import (
	"testing"

	. "github.com/onsi/gomega"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller/metrics"
)

// A binding has one series, with the reason of its last pass, and none when it
// is gone.
func TestReadinessHasOneSeriesForABinding(t *testing.T) {
	g := NewWithT(t)
	named("web").Set(metrics.State{Reason: "Pending"})
	named("other").Set(metrics.State{Reason: "GroupFull"})
	named("web").Set(metrics.State{Ready: true, Reason: "Reconciled"})
	g.Expect(readiness(g)).To(Equal(map[string]float64{"web Reconciled": 1, "other GroupFull": 0}))
	named("web").Forget()
	g.Expect(readiness(g)).To(Equal(map[string]float64{"other GroupFull": 0}))
	named("other").Forget()
	g.Expect(readiness(g)).To(BeEmpty())
}

// readiness is the value of each binding and reason.
func readiness(g *WithT) map[string]float64 {
	families, err := registry.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "target_ownership_binding_ready" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			values[labels["binding"]+" "+labels["reason"]] = m.GetGauge().GetValue()
		}
	}
	return values
}
