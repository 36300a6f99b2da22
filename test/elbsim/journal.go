package elbsim

import (
	"slices"
	"time"
)

// Outcomes of a call, besides the error code of a refusal.
const (
	OutcomeOK   = "ok"
	OutcomeLate = "late"
)

// Entry is one line of the journal.
type Entry struct {
	Call
	// At is when the call was applied or refused, which is later than
	// Call.Time under injected latency.
	At time.Time
	// Outcome is OutcomeOK, OutcomeLate, or the code of the error.
	Outcome string
	// ReplyLost tells that the caller saw a connection reset.
	ReplyLost bool
	// Landed marks the line of a late call that has landed. It repeats the ID
	// of the call and is not counted as another call.
	Landed bool
}

// Mutation is a change that was just applied to a group.
type Mutation struct {
	Call Call
	// At is the injected time of the change.
	At time.Time
	// Landed marks a call that landed late.
	Landed bool
	// Targets are the targets of the group after the change, by key.
	Targets []TargetStatus
}

// journal records calls and tells observers of mutations.
type journal struct {
	entries   []Entry
	observers map[int]func(Mutation)
	observed  int
}

func (j *journal) add(e Entry) { j.entries = append(j.entries, e) }

func outcome(err *Error) string {
	if err != nil {
		return err.Code
	}
	return OutcomeOK
}

// Journal returns all calls so far, in the order in which they were decided.
func (s *Simulator) Journal() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	return slices.Clone(s.journal.entries)
}

// ClearJournal forgets the calls so far, and with them the counts.
func (s *Simulator) ClearJournal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	s.journal.entries = nil
}

// Count is the number of calls of a caller and an action, refused ones
// included; an empty string stands for any.
func (s *Simulator) Count(caller, action string) int {
	counted := Rule{Caller: caller, Action: action}
	n := 0
	for _, e := range s.Journal() {
		if !e.Landed && counted.matches(e.Call) {
			n++
		}
	}
	return n
}

// Observe calls the function after each mutation that was applied, until
// cancel is called. No other mutation happens while it runs, so it is the
// place to check an invariant at each step. It must not call the simulator:
// what it needs is in the argument.
func (s *Simulator) Observe(observer func(Mutation)) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal.observed++
	id := s.journal.observed
	s.journal.observers[id] = observer
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.journal.observers, id)
	}
}
