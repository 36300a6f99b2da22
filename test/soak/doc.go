// Package soak lets the controller run on real parts while they fail: three
// Kubernetes clusters whose Deployments roll without pause and hand pod
// addresses to each other, three controllers built from cmd/controller, and a
// toxiproxy on each way from a controller to the ownership table and to the
// ELBv2 simulator. All share one target group.
//
// A soak has five parts: a start, a healthy time, chaos, a storm in which
// everything throttles, and a quiet end in which all has to be right.
//
// # Faults
//
// Each controller has three lanes of faults, of its process, its way to the
// table and its way to the load balancer, which run side by side; a fourth
// lane is a person who takes targets out of the group. What a lane does is
// drawn from the seed, so that a seed repeats the faults; what the machine
// makes of them it does not repeat. See [lanes].
//
// The table is deleted and created anew between two rounds of faults, never
// during one: what a controller had recorded it knows only from its memory
// then (docs/protocol, "Rows that the table lost"), so that a crash before it
// has written it down again leaks by design. From the deletion until every
// controller has written its records anew, and its calls from before have
// landed, others may miss a holder. What is taken out wrongly within that time
// is counted apart and is no failure; that all is right in the end is checked
// all the same.
//
// # Checks
//
// A [guard] sees every call that changes the group as it lands, reads the
// records and the pods of that moment, and ends the soak when
//
//   - a target is taken out that another cluster holds and has registered (S1
//     of docs/protocol), or that the caller holds itself or has a ready pod at;
//   - a target is in the group that no record names (S2);
//   - a call of a controller names a target that nobody recorded (S3).
//
// At the end the group has to be what all clusters want and what nobody
// recorded (L1). A process that is frozen exactly between the check of its
// deadline and its call can break S1 once, and nobody can fence it off. A
// removal counts as that only if its caller was frozen for longer than a call
// may take and has not read the table since, if it lands when others no longer
// wait for it by what the table says, and only once in a soak: chance does not
// do it twice.
package soak
