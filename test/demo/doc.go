// Package demo plays the controller's story on real parts, in a few minutes
// and on loopback only: two Kubernetes clusters, two controllers built from
// cmd/controller, one shared target group in the ELBv2 simulator, and one
// ownership table in a DynamoDB engine. Each scene says what happens, shows
// who owns what, and checks it.
//
// Beside the checks of the scenes a [guard] looks at every single change of
// the target group as it happens: whoever takes a target out must not take
// another's, and no target may be in the group without a record.
package demo
