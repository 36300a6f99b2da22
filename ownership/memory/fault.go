package memory

import (
	"context"
	"fmt"
	"slices"

	"target-ownership-controller/ownership"
)

// Kind is the method of a call.
type Kind string

// The kinds of calls.
const (
	Records    Kind = "Records"
	Put        Kind = "Put"
	Delete     Kind = "Delete"
	Groups     Kind = "Groups"
	Cluster    Kind = "Cluster"
	Clusters   Kind = "Clusters"
	PutCluster Kind = "PutCluster"
	AddHistory Kind = "AddHistory"
	History    Kind = "History"
)

// Op is one call. Fields that the method does not take are empty.
type Op struct {
	Kind    Kind
	Group   ownership.GroupARN
	Owner   ownership.Owner
	Cluster string
}

// Writes reports whether the call is a write.
func (o Op) Writes() bool {
	return slices.Contains([]Kind{Put, Delete, PutCluster, AddHistory}, o.Kind)
}

// Fault is what happens to a call. The zero Fault is none.
type Fault struct {
	effect effect
	err    error
}

type effect int

const (
	none effect = iota
	refuse
	loseReply
	delay
)

// Refuse answers the call with err and does not apply it.
func Refuse(err error) Fault { return Fault{effect: refuse, err: err} }

// LoseReply applies the call and answers [ownership.ErrUnavailable]. If the
// condition of a write does not hold, that answer is lost too.
func LoseReply() Fault { return Fault{effect: loseReply} }

// Delay answers [ownership.ErrUnavailable] and keeps a write for
// [Table.Land], which applies it if its condition holds then. A read is just
// unanswered.
func Delay() Fault { return Fault{effect: delay} }

// Intercept asks f before every call what should happen to it; nil ends that.
// f runs without the table's lock and may call the table.
func (t *Table) Intercept(f func(Op) Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.intercept = f
}

// Observe calls f for every applied write of a record, in the order of their
// effect; nil ends that. f runs under the table's lock and must not call the
// table.
func (t *Table) Observe(f func(Change)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.observe = f
}

// delayed is a write that is on its way.
type delayed struct {
	op    Op
	apply func() error
}

// Delayed returns the writes that have not landed, in the order in which they
// were sent.
func (t *Table) Delayed() []Op {
	t.mu.Lock()
	defer t.mu.Unlock()
	ops := make([]Op, 0, len(t.delayed))
	for _, d := range t.delayed {
		ops = append(ops, d.op)
	}
	return ops
}

// Land applies the i-th of the delayed writes and returns the answer that
// nobody waits for any more: nil or [ownership.ErrConflict].
func (t *Table) Land(i int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i < 0 || i >= len(t.delayed) {
		return fmt.Errorf("no delayed write %d of %d", i, len(t.delayed))
	}
	d := t.delayed[i]
	t.delayed = append(t.delayed[:i:i], t.delayed[i+1:]...)
	return d.apply()
}

func (t *Table) read(ctx context.Context, op Op, get func() error) error {
	fault, err := t.begin(ctx, op)
	if err != nil {
		return err
	}
	if fault.effect != none {
		return unavailable(op, nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return get()
}

func (t *Table) write(ctx context.Context, op Op, apply func() error) error {
	fault, err := t.begin(ctx, op)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch fault.effect {
	case loseReply:
		_ = apply() // success or conflict: nobody hears
		return unavailable(op, nil)
	case delay:
		t.delayed = append(t.delayed, delayed{op: op, apply: apply})
		return unavailable(op, nil)
	default:
		return apply()
	}
}

// begin returns the fault of a call, or the error that ends it at once.
func (t *Table) begin(ctx context.Context, op Op) (Fault, error) {
	if err := ctx.Err(); err != nil {
		return Fault{}, unavailable(op, err)
	}
	t.mu.Lock()
	intercept := t.intercept
	t.mu.Unlock()
	if intercept == nil {
		return Fault{}, nil
	}
	fault := intercept(op)
	if fault.effect == refuse {
		return fault, fmt.Errorf("%s: %w", op.Kind, fault.err)
	}
	return fault, nil
}

func unavailable(op Op, cause error) error {
	if cause == nil {
		return fmt.Errorf("%s: %w", op.Kind, ownership.ErrUnavailable)
	}
	return fmt.Errorf("%s: %w: %w", op.Kind, ownership.ErrUnavailable, cause)
}
