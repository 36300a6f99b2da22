package demo

import (
	"context"
	"strconv"
)

// summary counts what the guard has seen, and checks it a last time.
func (s *stage) summary(ctx context.Context) error {
	s.screen.heading(len(s.scenes), "Summary")
	t, _ := s.guard.seen()
	untouched := s.guard.removalsOf(byHand) == 0
	s.screen.table([]string{"IN ALL", "NUMBER"}, [][]string{
		{"calls that changed the group", strconv.Itoa(t.changes)},
		{"targets registered", strconv.Itoa(t.registrations)},
		{"targets taken out", strconv.Itoa(t.removals)},
		{"taken out by another than its owner", strconv.Itoa(len(t.foreign))},
		{"in the group without a record", strconv.Itoa(len(t.unrecorded))},
		{"removals of the target put in by hand", strconv.Itoa(s.guard.removalsOf(byHand))},
	})
	s.screen.print("")
	return s.verify(
		s.union(ctx),
		s.guard.harmless(),
		s.guard.recorded(),
		expect("the target put in by hand was never touched", unless(untouched, "it was taken out")),
		expect("there was something to check", unless(t.registrations > 0 && t.removals > 0, "%d registrations, %d removals", t.registrations, t.removals)),
	)
}
