package ownership_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

const (
	arn     ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"
	x, y, z ownership.Target   = "10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"
)

type targets = []ownership.Target

func owner(cluster string) ownership.Owner {
	return ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}
}

// bench is a table, a clock and faults.
type bench struct {
	*WithT
	t     *testing.T
	now   time.Time
	table *memory.Table
	fault func(memory.Op) memory.Fault
	ids   int
}

func newBench(t *testing.T) *bench {
	b := &bench{WithT: NewWithT(t), t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), table: memory.New()}
	b.table.Intercept(func(op memory.Op) memory.Fault {
		if b.fault == nil {
			return memory.Fault{}
		}
		return b.fault(op)
	})
	return b
}

// next lets the fault happen to the next call of the kind.
func (b *bench) next(kind memory.Kind, f memory.Fault) {
	b.fault = func(op memory.Op) memory.Fault {
		if op.Kind != kind {
			return memory.Fault{}
		}
		b.fault = nil
		return f
	}
}

func (b *bench) ledger(cluster string) *ownership.Ledger { return b.over(b.table, cluster) }

func (b *bench) over(store ownership.Store, cluster string) *ownership.Ledger {
	return ownership.NewLedger(store, ownership.Identity{Group: arn, Owner: owner(cluster), BindingUID: "uid", ControllerVersion: "v1"},
		ownership.Env{Now: func() time.Time { return b.now }, NewID: b.newID})
}

func (b *bench) newID() string { b.ids++; return fmt.Sprint("write-", b.ids) }

func (b *bench) look(l *ownership.Ledger) {
	b.t.Helper()
	b.Expect(l.Look(b.t.Context())).To(Succeed())
}

func (b *bench) flag(l *ownership.Ledger, claims, releases targets) {
	b.t.Helper()
	b.Expect(l.Flag(b.t.Context(), claims, releases)).To(Succeed())
}

// holding returns a ledger that has registered the targets.
func (b *bench) holding(cluster string, held ...ownership.Target) *ownership.Ledger {
	b.t.Helper()
	l := b.ledger(cluster)
	b.look(l)
	b.flag(l, held, nil)
	b.look(l)
	l.Registered(ownership.Result{Done: held})
	return l
}

// releasing returns a ledger that has flagged and looked.
func (b *bench) releasing(cluster string, releasing ...ownership.Target) *ownership.Ledger {
	b.t.Helper()
	l := b.holding(cluster, releasing...)
	b.flag(l, nil, releasing)
	b.look(l)
	return l
}

// stored returns the record in the table, and whether there is one.
func (b *bench) stored(cluster string) (ownership.Record, bool) {
	b.t.Helper()
	read, err := b.table.Records(b.t.Context(), arn)
	b.Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(read.Records, func(r ownership.Record) bool { return r.Owner == owner(cluster) })
	if i < 0 {
		return ownership.Record{}, false
	}
	return read.Records[i], true
}

func (b *bench) expectStored(cluster string, version int64, held, releasing targets) {
	b.t.Helper()
	r, _ := b.stored(cluster)
	b.Expect(r.Version).To(Equal(version))
	b.Expect(slices.Sorted(maps.Keys(r.Held))).To(Equal(held))
	b.Expect(slices.Sorted(maps.Keys(r.Releasing))).To(Equal(releasing))
}

// slowLook lets the next reading take as long as d.
func (b *bench) slowLook(d time.Duration) {
	b.fault = func(op memory.Op) memory.Fault {
		if op.Kind == memory.Records {
			b.fault = nil
			b.now = b.now.Add(d)
		}
		return memory.Fault{}
	}
}
