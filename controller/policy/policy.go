// Package policy has the policies of a binding: what its annotations say, and
// what that makes of its targets. Everything in it is a pure function.
package policy

import (
	"time"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
)

// Policy is what the annotations of a binding say.
type Policy struct {
	Deletion   string          // v1beta1.DeletionPolicyDelete, -Retain or -HandOver
	HandOverTo ownership.Owner // of HandOver
	Maximum    int             // of targets; 0 for no limit
	Share      int             // of the targets of the group, in percent; 100 for no limit
	Order      string          // v1beta1.OrderRegisterFirst or -ReleaseFirst

	HoldServing time.Duration // of endpoints that terminate and serve still; 0 for none
	Minimum     Minimum
	Nodes       string // v1beta1.NodesAll or -Local; empty for what the Service says
}

// Default is the policy of a binding without annotations.
func Default() Policy {
	return Policy{Deletion: v1beta1.DeletionPolicyDelete, Share: 100, Order: v1beta1.OrderRegisterFirst}
}
