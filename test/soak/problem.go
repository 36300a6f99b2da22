package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/test/elbsim"
)

// ErrInterrupted says that the caller's context ended before the soak did.
var ErrInterrupted = errors.New("interrupted")

// problem is what ends a soak.
type problem struct {
	at     time.Time // zero: now
	target string    // empty: about none
	what   string
}

func (p *problem) Error() string { return p.what }

// fail ends the soak. The first problem counts: those that follow may follow
// from it.
func (s *soak) fail(p *problem) {
	if p.at.IsZero() {
		p.at = time.Now()
	}
	s.cancel(p)
}

const (
	around       = 90 * time.Second // of a problem: what settles, settles in 60 s
	mostLines    = 60
	logTailLines = 8
)

// explain shows what led to a problem: calls, records, faults, logs.
func (s *soak) explain(p *problem) {
	if s.lb != nil && p.target != "" {
		s.screen.section("calls for "+p.target+" around "+clockTime(p.at), journalLines(s.lb.Journal(), p))
		s.screen.section("records of it now", s.recordLines(p.target))
	}
	s.screen.section("faults", s.screen.lastEvents())
	for _, at := range s.sites {
		if c := at.running(); c != nil {
			s.screen.section("controller of "+at.name+", last lines of "+c.Log, shortLines(c.Tail(logTailLines)))
		}
	}
}

// journalLines are the calls that name the problem's target.
func journalLines(journal []elbsim.Entry, p *problem) []string {
	var lines []string
	for _, e := range journal {
		if e.At.Sub(p.at).Abs() > around || !slices.Contains(e.Targets, p.target) {
			continue
		}
		line := fmt.Sprintf("%s  #%d %-17s by %-8s %s", clockTime(e.At), e.ID, e.Action, e.Caller, e.Outcome)
		if e.Landed {
			line += ", arrived at " + clockTime(e.Time)
		}
		if e.ReplyLost {
			line += ", reply lost"
		}
		lines = append(lines, fmt.Sprintf("%s, %d targets", line, len(e.Targets)))
	}
	return lines[max(0, len(lines)-mostLines):]
}

func (s *soak) recordLines(t string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), guardTimeout)
	defer cancel()
	read, err := s.records(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, r := range read.Records {
		for key, since := range r.Held {
			if string(key) == t {
				lines = append(lines, fmt.Sprintf("%s holds it since %s, record written at %s", r.Owner, clockTime(since), clockTime(r.UpdatedAt)))
			}
		}
		for key, since := range r.Releasing {
			if string(key) == t {
				lines = append(lines, fmt.Sprintf("%s releases it since %s, record written at %s", r.Owner, clockTime(since), clockTime(r.UpdatedAt)))
			}
		}
	}
	if lines == nil {
		return []string{"none"}
	}
	return lines
}

func clockTime(t time.Time) string { return t.Local().Format("15:04:05.000") }

// short joins the first few of a list.
func short(list []string) string {
	const most = 6
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}
