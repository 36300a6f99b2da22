// Package simulation runs whole controllers against each other in virtual
// time, one call at a time, and checks the promises of docs/protocol after
// every step. It is a suite, as package storetest is: it serves tests and no
// program that is shipped.
//
// A run is drawn from one seed: two to six clusters with one to five bindings
// each, all on one target group; pods that start, move their address to
// another cluster, fail and return; controllers that crash, lose the lead,
// freeze, and wake up with old caches; calls to the table and to the group that are refused, lost, late
// or doubled; in some runs a quota, targets that the group refuses, exclusive
// bindings, clusters that are lost, and a table that is damaged by hand. The
// same seed gives the same run. [Shrink] takes out of a failing run whatever
// it does not need to fail.
//
// What runs is a [Method]. [Protocol] is ours: ownership.Ledger and pass.Pass,
// as the controller runs them. Another method can be run through the same
// troubles to compare.
//
// # What is checked
//
// After every step:
//
//   - S1: no deregistration takes out a target that another owner holds in its
//     records, and that it has registered or takes to be registered since.
//   - S2: what is in the group is in a record, but for what came from outside.
//   - S3: what came from outside is taken out only after somebody recorded it,
//     which only an exclusive binding does.
//
// At the end, when faults and changes have stopped:
//
//   - L1: every record names what its binding wants, every wanted target is in
//     the group, nothing else is but what came from outside, and a further
//     pass calls nothing.
//
// The promises are weaker in a run with a damaged table. S1 is not checked
// from the damage until every controller that ran then has read the table once
// and Settle has passed. S2 excuses targets that the damage took from the
// records, until somebody records them again. L1 excuses those of them whose
// controller died before it noticed: nobody knows them any more. S3 stays as
// it is. What a lost cluster has recorded stays, for an operator to release.
//
// # What is assumed
//
// A process may freeze for minutes wherever it is, but not between the check
// of its deadline and the call: a call that has begun lands within 40 seconds
// (its budget of 20, and 20 more on its way), or never. Writes to the table
// may land at any time.
package simulation
