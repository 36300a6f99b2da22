package audit_test

import (
	. "github.com/onsi/gomega"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// dropped is how many entries nobody will read.
func dropped(g *WithT) float64 {
	families, err := registry.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "target_ownership_history_dropped_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	g.Expect("target_ownership_history_dropped_total").To(BeEmpty(), "the metric is not registered")
	return 0
}
