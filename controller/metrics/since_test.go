package metrics_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/metrics"
)

// A table that is away for an hour makes no target blocked for an hour.
func TestBlockedSecondsStandStillWithoutLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		web := named("web")
		defer web.Forget()
		look := metrics.State{Counts: &v1beta1.TargetCounts{}, BlockedSince: time.Now()}
		web.Set(look)
		time.Sleep(metrics.Fresh)
		g.Expect(blockedSeconds(g)).To(Equal(metrics.Fresh.Seconds()))
		time.Sleep(time.Hour)
		web.Set(metrics.State{}) // a pass that could not look
		g.Expect(blockedSeconds(g)).To(Equal(metrics.Fresh.Seconds()))
	})
}

func named(name string) metrics.Binding {
	return metrics.Binding{Namespace: "shop", Kind: "TargetGroupBinding", Name: name}
}

func blockedSeconds(g *WithT) float64 {
	families, err := registry.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "target_ownership_blocked_seconds" {
			g.Expect(family.GetMetric()).To(HaveLen(1))
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	g.Expect("target_ownership_blocked_seconds").To(BeEmpty(), "the metric is not there")
	return 0
}
