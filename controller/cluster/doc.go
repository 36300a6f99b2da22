// Package cluster decides whether this cluster's controller may reconcile at
// all, and says so through one [Gate] that the reconciler asks before every
// pass.
//
//   - [Heartbeat] claims the cluster ID in the registry of the ownership table
//     and then keeps showing that the cluster lives.
//   - [Preflight] tells the readiness probe whether this replica could.
//   - [LoadBalancerControllerGuard] keeps the gate closed while the AWS Load
//     Balancer Controller reconciles the same kind.
//   - [Peers] watches the heartbeats of the other clusters, for people. It
//     decides nothing: a silent cluster may still serve.
//
// The rules are in docs/decisions/0003-cluster-identity.md and
// docs/decisions/0004-readiness.md.
package cluster
