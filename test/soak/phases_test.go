package soak

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestPartsOfASoak(t *testing.T) {
	for _, c := range []struct{ duration, healthy, chaos, storm time.Duration }{
		{time.Minute, 20 * time.Second, 28 * time.Second, 12 * time.Second},
		{5 * time.Minute, 30 * time.Second, 210 * time.Second, time.Minute},
		{24 * time.Hour, 2 * time.Minute, 24*time.Hour - 3*time.Minute, time.Minute},
	} {
		t.Run(c.duration.String(), func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(split(c.duration)).To(Equal(phases{c.healthy, c.chaos, c.storm}))
		})
	}
	for _, refused := range []time.Duration{59 * time.Second, 25 * time.Hour} {
		_, err := split(refused)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("between 1m0s and 24h0m0s")))
	}
}

func TestRoundsOfFaults(t *testing.T) {
	for _, c := range []struct {
		chaos  time.Duration
		n      int
		faults time.Duration
	}{
		{28 * time.Second, 1, 14 * time.Second},
		{210 * time.Second, 1, 175 * time.Second},
		{8 * time.Minute, 2, 205 * time.Second},
	} {
		t.Run(c.chaos.String(), func(t *testing.T) {
			g := NewWithT(t)
			n, faults := rounds(c.chaos)
			g.Expect(n).To(Equal(c.n))
			g.Expect(faults).To(Equal(c.faults))
		})
	}
}
