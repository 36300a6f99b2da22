// Package managed makes bindings of the annotations of Services and Ingresses;
// docs/annotations.md says what they mean.
//
// A pass over a Service or an Ingress is: request (what its annotations ask
// for, without a client) → apply (create, repair, delete) → report (events on
// it). Load balancers and target groups are never created here.
package managed
