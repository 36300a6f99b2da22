package ownership_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func TestWhatOthersDo(t *testing.T) {
	b := newBench(t)
	b.holding("b", x, y)
	b.releasing("c", y, z)
	l := b.ledger("a")
	b.look(l)
	look := l.Current()
	for target, want := range map[ownership.Target]ownership.Others{
		x:             {Hold: true},
		y:             {Hold: true, Release: true},
		z:             {Release: true},
		"10.0.0.9:80": {},
	} {
		b.Expect(look.At(target)).To(Equal(want), string(target))
	}

	held, all := look.HeldByOthers()
	b.Expect(held).To(Equal(ownership.Set{x: true, y: true}))
	b.Expect(all).To(BeTrue())
	b.Expect(look.HeldBy(owner("b"))).To(Equal(ownership.Set{x: true, y: true}))
	b.Expect(look.HeldBy(owner("c"))).To(BeEmpty(), "it holds none")
	b.Expect(look.HeldBy(owner("d"))).To(BeEmpty(), "it has no record")

	b.table.Break(ownership.Key{Group: arn, Owner: owner("d")}, "held is no map")
	b.look(l)
	held, all = l.Current().HeldByOthers()
	b.Expect(held).To(Equal(ownership.Set{x: true, y: true}))
	b.Expect(all).To(BeFalse())
	b.Expect(l.Current().At(x)).To(Equal(ownership.Others{Hold: true, Unreadable: true}))
	b.Expect(l.Tally().Unreadable).To(Equal([]ownership.Unreadable{{Owner: "d/shop/web", Reason: "held is no map"}}))
}

// A releasing entry counts until its record was unchanged for Settle since
// the end of the look that first saw it.
func TestAStaleReleaseCountsNoLonger(t *testing.T) {
	b := newBench(t)
	other := b.releasing("b", x)
	l := b.ledger("a")
	blocked := func() bool {
		t.Helper()
		b.look(l)
		return l.Current().At(x).Release
	}
	b.now = b.now.Add(time.Hour)
	b.Expect(blocked()).To(BeTrue(), "however old the entry is")
	b.now = b.now.Add(ownership.Settle - time.Nanosecond)
	b.Expect(blocked()).To(BeTrue())
	b.now = b.now.Add(time.Nanosecond)
	b.Expect(blocked()).To(BeFalse(), "at exactly Settle")

	b.flag(other, nil, targets{x}) // flagged anew
	b.Expect(blocked()).To(BeTrue())
	b.now = b.now.Add(ownership.Settle - time.Nanosecond)
	b.Expect(blocked()).To(BeTrue())

	// The same version by another write is another record.
	b.table.Wipe()
	b.flag(b.releasing("b", x), nil, targets{x})
	b.now = b.now.Add(time.Nanosecond)
	b.Expect(blocked()).To(BeTrue())
	b.now = b.now.Add(ownership.Settle)
	b.Expect(blocked()).To(BeFalse())
}

// The time that a look itself takes counts for nothing.
func TestASightingCountsFromTheEndOfItsLook(t *testing.T) {
	b := newBench(t)
	b.releasing("b", x)
	l := b.ledger("a")
	slow := func(d time.Duration) {
		b.slowLook(d)
		b.look(l)
	}
	slow(10 * time.Second)
	b.now = b.now.Add(ownership.Settle - 5*time.Second)
	slow(10 * time.Second)
	b.Expect(l.Current().At(x).Release).To(BeTrue(), "65 s after the first look began, 55 s after it ended")
}

func TestPermissions(t *testing.T) {
	b := newBench(t)
	b.holding("b", y)
	l := b.holding("a", x, y, z)
	b.flag(l, nil, targets{x, y})
	flagged := b.now
	b.now = b.now.Add(7 * time.Second)
	b.look(l)

	removal := l.Current().Remove(targets{z, y, x, "10.0.0.9:80"})
	b.Expect(removal.Targets()).To(Equal(targets{x}), "released by us and held by nobody")
	b.Expect(removal.Group()).To(Equal(arn))
	b.Expect(removal.Left(b.now)).To(Equal(13*time.Second), "others count from the flag")

	admission := l.Current().Admit(targets{z, y, x, "10.0.0.9:80"})
	b.Expect(admission.Targets()).To(Equal(targets{y, z}), "held by us, or given back")
	b.Expect(admission.Left(b.now)).To(Equal(20 * time.Second))

	b.now = flagged.Add(ownership.CallBudget)
	b.Expect(l.State(x).Expired).To(BeFalse())
	b.now = b.now.Add(time.Nanosecond)
	b.Expect(l.State(x).Expired).To(BeTrue())
	b.Expect(l.State(z).Expired).To(BeFalse(), "nothing expires that is held")
	b.flag(l, nil, targets{x})
	b.Expect(l.State(x).Expired).To(BeFalse())
}

func TestNoPermissionAgainstAReleaseOrAnUnreadableRecord(t *testing.T) {
	b := newBench(t)
	b.releasing("b", x)
	l := b.releasing("a", z)
	b.flag(l, targets{x, y}, nil)
	b.look(l)
	b.Expect(l.Current().Admit(targets{x, y}).Targets()).To(Equal(targets{y}))
	b.Expect(l.Current().Remove(targets{z}).Targets()).To(Equal(targets{z}))
	b.table.Break(ownership.Key{Group: arn, Owner: owner("d")}, "held is no map")
	b.look(l)
	b.Expect(l.Current().Admit(targets{x, y}).Targets()).To(Equal(targets{y}))
	b.Expect(l.Current().Remove(targets{z}).Targets()).To(BeEmpty())
}

// The settle time has to hold the start of a call, the call, and as much
// again for what is under way after it.
func TestBudgets(t *testing.T) {
	NewWithT(t).Expect(3 * ownership.CallBudget).To(BeNumerically("<=", ownership.Settle))
}
