// Package readiness lets Pods wait for the health of their targets:
// docs/readiness-gates.md says how.
//
// A Pod with a readiness gate becomes Ready once the condition of that name is
// True. Each binding has a condition of its own.
package readiness
