// Package webhook serves the admission webhooks, and keeps their certificate:
// docs/webhooks.md says what they are for.
//
// None of them stands in the way of an object. What they would have filled in is
// missing if they are not there, and the controller works without it.
package webhook
