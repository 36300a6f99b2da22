package metrics_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/metrics"
)

// A step outside a trace costs a look at the clock and at its metric.
func TestAStepAllocatesNothing(t *testing.T) {
	g := NewWithT(t)
	ctx, boom := t.Context(), errors.New("boom")
	g.Expect(testing.AllocsPerRun(100, func() {
		if err := metrics.Step(ctx, "apply", func(context.Context) error { return boom }); !errors.Is(err, boom) {
			t.Error(err)
		}
	})).To(BeZero())
}
