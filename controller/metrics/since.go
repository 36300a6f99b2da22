package metrics

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Fresh is for how long what a pass saw is taken to last. A binding that waits
// is looked at every second, and every half minute after failures.
const Fresh = time.Minute

// since is a gauge of seconds since a time, which goes on between two passes,
// and stands still if the next one does not come.
type since struct {
	desc *prometheus.Desc

	mu   sync.Mutex
	seen map[string]sighting // by label values
}

type sighting struct {
	since time.Time // the zero time is 0 seconds
	at    time.Time
}

func newSince(desc *prometheus.Desc) *since {
	return &since{desc: desc, seen: map[string]sighting{}}
}

func key(labels []string) string { return strings.Join(labels, "/") } // which names do not have

func (s *since) set(t time.Time, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[key(labels)] = sighting{since: t, at: time.Now()}
}

func (s *since) forget(labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key(labels))
}

// Describe implements prometheus.Collector.
func (s *since) Describe(descs chan<- *prometheus.Desc) { descs <- s.desc }

// Collect implements prometheus.Collector.
func (s *since) Collect(values chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for labels, is := range s.seen {
		seconds := 0.0
		if !is.since.IsZero() {
			last := is.at.Add(min(time.Since(is.at), Fresh))
			seconds = max(0, last.Sub(is.since).Seconds())
		}
		values <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, seconds, strings.Split(labels, "/")...)
	}
}
