package binding

import (
	"time"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// retains reports whether the binding goes and its targets stay.
func (b *round) retains() bool {
	return b.deleting() && b.policy.Deletion == v1beta1.DeletionPolicyRetain
}

// retained is what a binding wants that goes and leaves its targets: all that
// it holds, or held in a row that the table has lost. The ledger has to be
// loaded.
func retained(ledger *ownership.Ledger) ownership.Set {
	want := ownership.Set{}
	for s := range ledger.States(nil) {
		if s.Entry == ownership.Held || s.Lost {
			want[s.Target] = true
		}
	}
	return want
}

// handedOver reports whether the record of a binding that leaves its targets
// can go: what it was taking out is out, and no registration can land any
// more, when the target may have another owner who has taken it out.
func (b *round) handedOver() bool {
	record := b.state.ledger.Record()
	return len(record.Releasing) == 0 && b.landed().IsZero() && b.report.Plan.Count(plan.Claim) == 0
}

// landed is when the last registration in doubt has landed or never will; zero
// if none is.
func (b *round) landed() time.Time {
	var last time.Time
	for s := range b.state.ledger.States(nil) {
		if s.Entry == ownership.Held && s.ReturnBy.After(last) {
			last = s.ReturnBy
		}
	}
	return last
}
