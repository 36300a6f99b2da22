package ownership_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

// A process that was frozen between its look and its registration, and whose
// successor has let go of the target since, is the only one that can know
// that it is in the group.
func TestARegistrationThatLandedAfterItsSuccessorWasDone(t *testing.T) {
	for name, result := range map[string]ownership.Result{"confirmed": {Done: targets{x}}, "in doubt": unsure(x)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			frozen := b.ledger("a")
			b.look(frozen)
			b.flag(frozen, targets{x, y}, nil)
			b.look(frozen)
			b.succeededAndReleased(t, x)

			b.now = b.now.Add(10 * time.Minute)
			frozen.Registered(result)
			b.Expect(frozen.Loaded()).To(BeFalse(), "another look is due")
			b.look(frozen)
			b.Expect(frozen.State(x).Lost).To(BeTrue())
			b.Expect(frozen.State(y).Lost).To(BeFalse(), "it was not under way")

			frozen.Begin(b.now)
			b.flag(frozen, nil, targets{x})
			b.expectStored("a", 5, targets{y}, targets{x})
		})
	}
}

// Within Settle the successor still waits for what may land.
func TestARegistrationInTimeIsTheSuccessors(t *testing.T) {
	b := newBench(t)
	old := b.ledger("a")
	b.look(old)
	b.flag(old, targets{x, y}, nil)
	b.look(old)
	b.now = b.now.Add(ownership.Settle)
	old.Registered(ownership.Result{Done: targets{x}})
	b.Expect(old.Loaded()).To(BeTrue())
	b.succeededAndReleased(t, x)
	b.look(old)
	b.Expect(old.State(x).Lost).To(BeFalse())
}

// succeededAndReleased has another process of cluster a take over, take the
// target out and drop it.
func (b *bench) succeededAndReleased(t *testing.T, target ownership.Target) {
	t.Helper()
	lead := b.ledger("a")
	b.look(lead)
	b.flag(lead, nil, nil)
	b.flag(lead, nil, targets{target})
	b.now = b.now.Add(ownership.Settle)
	b.Expect(lead.Drop(t.Context(), targets{target})).To(Succeed())
}

// A sweep does not know the UID of a binding that is gone.
func TestALostRowIsWrittenAgainWithTheUIDItHad(t *testing.T) {
	b := newBench(t)
	b.holding("a", x)
	sweep := ownership.NewLedger(b.table, ownership.Identity{Group: arn, Owner: owner("a")},
		ownership.Env{Now: func() time.Time { return b.now }, NewID: b.newID})
	b.look(sweep)
	b.flag(sweep, nil, targets{x})
	b.table.Wipe()
	b.look(sweep)
	b.Expect(sweep.Record().Empty()).To(BeTrue())
	b.Expect(sweep.Finished()).To(BeFalse())
	b.flag(sweep, nil, targets{x})
	b.expectStored("a", 1, nil, targets{x})
	b.Expect(sweep.Record().BindingUID).To(Equal("uid"))
}

// A call that is given up may take CallBudget to land: the successor that
// counts from its own write is done before.
func TestARegistrationThatMayLandAfterItsSuccessorWasDone(t *testing.T) {
	b := newBench(t)
	old := b.ledger("a")
	b.look(old)
	b.flag(old, targets{x, y}, nil)
	b.look(old)
	lead := b.ledger("a")
	b.look(lead)
	b.flag(lead, nil, targets{x})
	b.now = b.now.Add(50 * time.Second)
	old.Registered(unsure(x)) // may land until 70 s
	b.now = b.now.Add(11 * time.Second)
	b.look(lead)
	b.Expect(lead.State(x).ReturnBy).To(BeZero(), "the successor waits for nothing any more")
	b.Expect(lead.Drop(t.Context(), targets{x})).To(Succeed())
	b.look(old)
	b.Expect(old.State(x).Lost).To(BeTrue())
}

func TestADeregistrationThatMayLandAfterOthersWaited(t *testing.T) {
	for age, late := range map[time.Duration]bool{40 * time.Second: false, 41 * time.Second: true} {
		b := newBench(t)
		a := b.releasing("a", x)
		b.now = b.now.Add(age)
		a.Deregistered(unsure(x), b.now)
		b.Expect(a.State(x).Late).To(Equal(late), "given up after %s", age)
	}
}

// Nobody had succeeded it, so what a later successor drops is out.
func TestALateRegistrationIsForgottenOnceOurRecordWasSeen(t *testing.T) {
	b := newBench(t)
	old := b.ledger("a")
	b.look(old)
	b.flag(old, targets{x, y}, nil)
	b.look(old)
	b.now = b.now.Add(10 * time.Minute)
	old.Registered(ownership.Result{Done: targets{x}})
	b.look(old)
	b.now = b.now.Add(24 * time.Hour)
	b.succeededAndReleased(t, x)
	b.look(old)
	b.Expect(old.State(x).Lost).To(BeFalse())
}
