package admin

import (
	"cmp"
	"slices"
)

// Severity is how much a finding matters.
type Severity string

// The severities. What is an error keeps something from working, a warning
// will, and a note is a choice that somebody may not have meant.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityNote    Severity = "note"
)

var bySeverity = []Severity{SeverityError, SeverityWarning, SeverityNote}

// Check names what was looked at. Scripts may compare it.
type Check string

// Finding is one thing that is not as it has to be.
type Finding struct {
	Severity Severity `json:"severity"`
	Check    Check    `json:"check"`
	Where    string   `json:"where"`
	What     string   `json:"what"`
	Do       string   `json:"do"` // what to do about it, naming the command
}

// SortFindings puts what matters most first, and else keeps their order.
func SortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(bySeverity, a.Severity), slices.Index(bySeverity, b.Severity))
	})
}

// findings collects them.
type findings []Finding

func (f *findings) add(severity Severity, check Check, where, what, do string) {
	*f = append(*f, Finding{severity, check, where, what, do})
}
