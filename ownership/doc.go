// Package ownership decides who may take a target out of an ELBv2 target
// group that several clusters share.
//
// A target group has no owner field, no compare-and-set and no fencing: the
// last DeregisterTargets call wins. So every owner, a binding of a cluster,
// keeps one record in a table that all clusters share, and follows one rule:
// flag first, then look. It writes what it is about to do, reads the records
// of all others, and only then calls the load balancer. Of a releasing and a
// claiming owner at least one sees the other.
//
// The parts, in the order in which a pass meets them:
//
//   - [Store] keeps records and answers conditional writes.
//   - [Ledger] is one owner's view of its record: it flags, looks and drops,
//     and remembers what its calls may still do to the group.
//   - [Look] is one complete reading of the others. Only a look hands out an
//     [Admission] to register or a [Removal] to deregister.
//
// Package plan decides, package pass runs. Both import this package and the
// standard library, which is all that this package imports.
//
// The contract is docs/protocol/README.md.
package ownership
