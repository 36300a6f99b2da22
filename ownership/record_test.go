package ownership_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func TestACloneSharesNothing(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := ownership.Record{Group: arn, Owner: owner("a"), Held: map[ownership.Target]time.Time{x: now}}
	c := r.Clone()
	g.Expect(c.Releasing).NotTo(BeNil(), "a clone can be written to")
	c.Held[y], c.Releasing[z] = now, now
	delete(c.Held, x)
	g.Expect(r.Held).To(Equal(map[ownership.Target]time.Time{x: now}))
	g.Expect(r.Releasing).To(BeEmpty())
}

func TestARecordIsEmptyWithoutAnyTarget(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ownership.Record{}.Empty()).To(BeTrue())
	g.Expect(ownership.Record{Held: map[ownership.Target]time.Time{x: {}}}.Empty()).To(BeFalse())
	g.Expect(ownership.Record{Releasing: map[ownership.Target]time.Time{x: {}}}.Empty()).To(BeFalse())
}
