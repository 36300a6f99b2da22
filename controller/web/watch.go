package web

import (
	"context"
	"sync"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
)

// Refresh is how often the table and the load balancer are read at most, if
// the [Source] says nothing else.
const Refresh = 10 * time.Second

const (
	// unwatched is for how long nobody has to ask until reading ends. Pages
	// ask every few seconds while they are visible.
	unwatched = 30 * time.Second
	// patience is how long a page waits for the first survey.
	patience = 20 * time.Second
	// surveyTimeout bounds a survey. One of many groups takes as long as the
	// limits of the load balancer's calls let it.
	surveyTimeout = 5 * time.Minute
)

// site is what a page shows.
type site struct {
	Table          string          `json:"table"`
	Region         string          `json:"region"`
	Version        string          `json:"version"`
	Serial         int             `json:"serial"` // counts the surveys
	RefreshSeconds float64         `json:"refreshSeconds"`
	Now            time.Time       `json:"now"` // by the clock that At is by
	Survey         *admin.Survey   `json:"survey"`
	Findings       []admin.Finding `json:"findings"`
	// Error is why the last survey failed; the one before is shown.
	Error string `json:"error,omitempty"`
}

func (s site) group(arn string) (ownership.GroupARN, bool) {
	if s.Survey == nil {
		return "", false
	}
	for _, g := range s.Survey.Groups {
		if string(g.TargetGroup) == arn {
			return g.TargetGroup, true
		}
	}
	return "", false
}

// watch makes surveys while somebody watches.
type watch struct {
	ctx    context.Context
	source Source

	mu      sync.Mutex
	site    site
	asked   time.Time     // when somebody asked last
	running bool          // a goroutine reads
	first   chan struct{} // closed when there is something to show
	began   time.Time     // when the last survey began
	pulses  map[string]pulse
}

// pulse is a cluster as it was when its heartbeat changed last, on our clock.
type pulse struct {
	cluster admin.Cluster
	at      time.Time
}

func newWatch(ctx context.Context, source Source) *watch {
	return &watch{
		ctx: ctx, source: source, first: make(chan struct{}), pulses: map[string]pulse{},
		site: site{
			Table: source.Place.Table, Region: source.Place.Region, Version: source.Version,
			RefreshSeconds: source.Refresh.Seconds(), Findings: []admin.Finding{},
		},
	}
}

// last is the last survey. It waits for the first until ctx ends.
func (w *watch) last(ctx context.Context) site {
	w.mu.Lock()
	w.asked = time.Now()
	if !w.running {
		w.running = true
		go w.run()
	}
	w.mu.Unlock()
	select {
	case <-w.first:
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.site
	now.Now = time.Now()
	return now
}

// run reads until nobody watches.
func (w *watch) run() {
	for {
		w.mu.Lock()
		if time.Since(w.asked) > unwatched || w.ctx.Err() != nil {
			w.running = false
			w.mu.Unlock()
			return
		}
		rest := w.source.Refresh - time.Since(w.began)
		w.mu.Unlock()
		timer := time.NewTimer(max(0, rest))
		select {
		case <-w.ctx.Done():
			timer.Stop()
		case <-timer.C:
			w.read()
		}
	}
}

// read makes one survey.
func (w *watch) read() {
	ctx, cancel := context.WithTimeout(w.ctx, surveyTimeout)
	defer cancel()
	w.mu.Lock()
	w.began = time.Now()
	w.mu.Unlock()
	survey, err := admin.TakeSurvey(ctx, w.source.Table, w.source.Lister, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.site.Error = err.Error()
	} else {
		w.feel(&survey)
		w.site.Error = ""
		w.site.Survey = &survey
		w.site.Findings = admin.Diagnose(survey, w.source.Place, 0)
		if w.site.Findings == nil {
			w.site.Findings = []admin.Finding{}
		}
	}
	if w.site.Serial++; w.site.Serial == 1 {
		close(w.first)
	}
}

// feel says of each cluster for how long its heartbeat has stood still, on our
// own clock.
func (w *watch) feel(s *admin.Survey) {
	pulses := map[string]pulse{}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		before, known := w.pulses[c.ID]
		if !known {
			pulses[c.ID] = pulse{*c, s.ReadAt}
			continue
		}
		now := pulse{*c, s.ReadAt}
		if before.cluster.HeartbeatSeq == c.HeartbeatSeq && before.cluster.Fingerprint == c.Fingerprint {
			now = before
		}
		pulses[c.ID] = now
		c.Watched = admin.Watch(before.cluster, *c, s.ReadAt.Sub(before.at))
	}
	w.pulses = pulses
}
