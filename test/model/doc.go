// Package model checks the Promela model in docs/protocol/model with spin:
// that every promise holds in every configuration, and that each rule of the
// protocol is needed, by taking it away. `make verify-protocol` runs it.
//
// A search counts only if it was complete, and a mutation is caught only if
// the promise breaks that it is said to break. Everything else is an error.
package model
