package metrics

import (
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// readiness is a gauge with the reason for its value, and whose trouble that
// is, as the last labels. A binding has one series at a time.
type readiness struct {
	desc *prometheus.Desc

	mu     sync.Mutex
	values map[string]judgement // by the other labels
}

type judgement struct {
	ready  bool
	reason string
	scope  Scope
}

func newReadiness(desc *prometheus.Desc) *readiness {
	return &readiness{desc: desc, values: map[string]judgement{}}
}

func (r *readiness) set(is judgement, labels ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.values[key(labels)] = is
}

func (r *readiness) forget(labels ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.values, key(labels))
}

// Describe implements prometheus.Collector.
func (r *readiness) Describe(descs chan<- *prometheus.Desc) { descs <- r.desc }

// Collect implements prometheus.Collector.
func (r *readiness) Collect(values chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for labels, v := range r.values {
		number := 0.0
		if v.ready {
			number = 1
		}
		values <- prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, number, append(strings.Split(labels, "/"), v.reason, string(v.scope))...)
	}
}
