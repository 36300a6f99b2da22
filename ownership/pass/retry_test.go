package pass_test

import (
	"context"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// retrying is a table whose every first reply to a put is lost, and whose
// client tries again, as an SDK does.
type retrying struct {
	*memory.Table
	rig *rig
}

func (s retrying) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	s.rig.fault = func(memory.Op) memory.Fault { return memory.LoseReply() }
	_ = s.Table.Put(ctx, next, seen)
	s.rig.fault = nil
	return s.Table.Put(ctx, next, seen)
}
