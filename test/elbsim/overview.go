package elbsim

import (
	"encoding/json"
	"net/http"
	"time"
)

// overview is what GET / shows.
type overview struct {
	Now    time.Time
	Region string
	Groups []groupOverview
	// Calls counts the calls by caller and action.
	Calls map[string]map[string]int
}

type groupOverview struct {
	Group
	Settings   Settings
	Attributes map[string]string
	// Targets are the targets by key.
	Targets map[string]Health
}

func (s *Simulator) serveOverview(w http.ResponseWriter, _ *http.Request) {
	body, err := s.overview()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n'))
}

func (s *Simulator) overview() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	view := overview{Now: now, Region: s.account.region, Calls: map[string]map[string]int{}}
	groups, _ := s.account.describeGroups(nil, nil) // asking for all cannot fail
	for _, described := range groups {
		g := s.account.groups[described.ARN]
		shown := groupOverview{described, g.settings, g.attributes, map[string]Health{}}
		for _, status := range s.account.statuses(g, now) {
			shown.Targets[status.Target.Key()] = status.Health
		}
		view.Groups = append(view.Groups, shown)
	}
	for _, e := range s.journal.entries {
		if e.Landed {
			continue
		}
		if view.Calls[e.Caller] == nil {
			view.Calls[e.Caller] = map[string]int{}
		}
		view.Calls[e.Caller][e.Action]++
	}
	return json.MarshalIndent(view, "", "  ")
}
