package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// check is something that has to be so; problem says why it is not.
type check struct {
	what    string
	problem error
}

func expect(what string, problem error) check { return check{what, problem} }

// checklist is what was checked so far.
type checklist struct{ done []string }

// verify adds the checks up to the first that fails, and returns that.
func (l *checklist) verify(checks ...check) error {
	for _, c := range checks {
		if err := firstProblem(c); err != nil {
			return err
		}
		l.done = append(l.done, c.what)
	}
	return nil
}

// firstProblem returns the first check that fails, as an error.
func firstProblem(checks ...check) error {
	for _, c := range checks {
		if c.problem != nil {
			return fmt.Errorf("check failed: %s: %w", c.what, c.problem)
		}
	}
	return nil
}

func (l *checklist) passed() int { return len(l.done) }

// verify checks and prints what holds.
func (s *stage) verify(checks ...check) error {
	from := s.checks.passed()
	err := s.checks.verify(checks...)
	for _, what := range s.checks.done[from:] {
		s.screen.tick(what)
	}
	return err
}

// set is a set of targets, by key.
type set map[string]bool

func (s set) sorted() []string { return slices.Sorted(maps.Keys(s)) }

func (s set) minus(other set) set {
	left := set{}
	for t := range s {
		if !other[t] {
			left[t] = true
		}
	}
	return left
}

// difference says what is missing from got and what is too much in it.
func difference(got, want set) error {
	var parts []string
	if missing := want.minus(got); len(missing) > 0 {
		parts = append(parts, "missing "+strings.Join(missing.sorted(), ", "))
	}
	if extra := got.minus(want); len(extra) > 0 {
		parts = append(parts, "too many "+strings.Join(extra.sorted(), ", "))
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(parts, "; "))
}

// unless returns the problem if it is one.
func unless(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}
