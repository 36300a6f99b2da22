// Package endpoints finds out what a binding wants in its target group: the
// addresses behind a Service for targets of type ip, the nodes fit for traffic
// for targets of type instance.
//
// An answer is complete or it is an error. A read that fails, a list that is
// a part, or slices that lag behind their Service give an [UnknownError],
// never a smaller set: what is missing from the answer is what the caller
// takes out of the group. The same code runs on a cache and on the API server
// itself; whether an answer needs to be confirmed is for the caller to say.
//
// EndpointSlices are the only source of addresses. Pods are not needed: an
// endpoint is live as soon as its slice says so, whether or not a cache has
// seen its Pod. A node that shuts down can only take its endpoints away, a
// moment early.
package endpoints
