package metrics

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// since is a gauge of seconds since a time, which goes on between two passes.
type since struct {
	desc *prometheus.Desc

	mu    sync.Mutex
	times map[string]time.Time // by label values; the zero time is 0 seconds
}

func newSince(desc *prometheus.Desc) *since {
	return &since{desc: desc, times: map[string]time.Time{}}
}

func key(labels []string) string { return strings.Join(labels, "/") } // which names do not have

func (s *since) set(t time.Time, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[key(labels)] = t
}

func (s *since) forget(labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.times, key(labels))
}

// Describe implements prometheus.Collector.
func (s *since) Describe(descs chan<- *prometheus.Desc) { descs <- s.desc }

// Collect implements prometheus.Collector.
func (s *since) Collect(values chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for labels, t := range s.times {
		seconds := 0.0
		if !t.IsZero() {
			seconds = max(0, time.Since(t).Seconds())
		}
		values <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, seconds, strings.Split(labels, "/")...)
	}
}
