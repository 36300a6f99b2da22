package elbsim

import (
	"time"
)

// Call is one request as it arrives, before anything is done.
type Call struct {
	// ID counts the calls, from 1.
	ID      int
	Time    time.Time
	Caller  string // access key ID of the request, "anonymous" without one; of a session, the ARN of its role
	Action  string
	Group   string   `json:",omitempty"` // ARN of the target group, if the action has one
	Targets []string `json:",omitempty"` // keys of the targets, if the action has some
}

// Fault is what happens to a call. The zero value is no fault.
type Fault struct {
	// Latency is waited on the wall clock before anything else. A caller who
	// gives up meanwhile does not stop the call: it is applied all the same.
	Latency time.Duration
	// Refuse answers with the error and applies nothing.
	Refuse *Error
	// DropReply applies the call, then resets the connection.
	DropReply bool
	// Late resets the connection now and applies the call later: when the
	// injected clock has passed LateBy, or at the next Land if LateBy is zero.
	// What the call does is decided when it lands. Calls that read are lost.
	Late   bool
	LateBy time.Duration
}

// Rule injects a fault into the calls that match all its non-empty fields.
type Rule struct {
	Action string
	Caller string
	Group  string // ARN
	// Times ends the rule after so many calls; 0 is no such end.
	Times int
	// For ends the rule when the injected clock has advanced so far since it
	// was made; 0 is no such end.
	For time.Duration
	// Chance is the share of the matching calls that are hit, drawn from the
	// seeded source; 0 is every one.
	Chance float64

	Fault Fault
}

func (r Rule) matches(call Call) bool {
	return (r.Action == "" || r.Action == call.Action) &&
		(r.Caller == "" || r.Caller == call.Caller) &&
		(r.Group == "" || r.Group == call.Group)
}

// liveRule is a rule with what is left of it.
type liveRule struct {
	Rule
	made time.Time
	hits int
}

func (r *liveRule) over(now time.Time) bool {
	return (r.Times > 0 && r.hits >= r.Times) || (r.For > 0 && !now.Before(r.made.Add(r.For)))
}

// Inject adds a rule. The first rule that hits a call decides; calls that no
// rule hits go to the Intercept function.
func (s *Simulator) Inject(rule Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, &liveRule{Rule: rule, made: s.now()})
}

// Intercept sets the function that decides on the fault of each call that no
// rule hits; nil is none. It may run concurrently and must not call the
// simulator.
func (s *Simulator) Intercept(decide func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = decide
}

// ClearRules removes all rules. The Intercept function stays, and late calls
// that have not landed yet still do.
func (s *Simulator) ClearRules() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = nil
}

// ruleFor finds the fault of the first rule that hits the call.
func (s *Simulator) ruleFor(call Call) (Fault, bool) {
	for _, rule := range s.rules {
		if rule.over(call.Time) || !rule.matches(call) {
			continue
		}
		if rule.Chance > 0 && s.account.random.Float64() >= rule.Chance {
			continue
		}
		rule.hits++
		return rule.Fault, true
	}
	return Fault{}, false
}

// lateCall is a mutation whose caller has been cut off and that lands later.
type lateCall struct {
	call Call
	form form
	due  time.Time // zero: at Land only
}

// Land applies all late calls now, in the order of their arrival, and returns
// how many there were.
func (s *Simulator) Land() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.settle()
	landing := s.late
	s.late = nil
	for _, l := range landing {
		s.land(l, now)
	}
	return len(landing)
}

// settle applies the late calls that are due, the earliest first, each at its
// own time, and returns the present time.
func (s *Simulator) settle() time.Time {
	now := s.now()
	for {
		next := -1
		for i, l := range s.late {
			if l.due.IsZero() || l.due.After(now) {
				continue
			}
			if next < 0 || l.due.Before(s.late[next].due) {
				next = i
			}
		}
		if next < 0 {
			return now
		}
		l := s.late[next]
		s.late = append(s.late[:next:next], s.late[next+1:]...)
		s.land(l, l.due)
	}
}

func (s *Simulator) land(l lateCall, at time.Time) {
	_, err := s.apply(l.call, l.form, at, true)
	s.journal.add(Entry{Call: l.call, At: at, Outcome: outcome(err), Landed: true})
}
