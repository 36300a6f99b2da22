package pass_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/simulation"
)

// torn is a table whose next reading is torn by what happens meanwhile: the
// owner's own record is from after it, those of the others from before.
type torn struct {
	*memory.Table
	owner     ownership.Owner
	meanwhile func() // nil: the reading is whole
}

func (s *torn) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	read, err := s.Table.Records(ctx, group)
	if s.meanwhile == nil || err != nil {
		return read, err
	}
	run := s.meanwhile
	s.meanwhile = nil
	run()
	later, err := s.Table.Records(ctx, group)
	for i := range read.Records {
		for _, own := range later.Records {
			if own.Owner == s.owner && read.Records[i].Owner == s.owner {
				read.Records[i] = own
			}
		}
	}
	return read, err
}

func (r *rig) torn(o ownership.Owner) (*controller, *torn) {
	store := &torn{Table: r.table, owner: o}
	c := r.controller(o)
	c.ledger = ownership.NewLedger(store, ownership.Identity{Group: arn, Owner: o, BindingUID: "uid"},
		ownership.Env{Now: r.clock.Now, NewID: func() string { r.ids++; return fmt.Sprint("torn-", r.ids) }})
	return c, store
}

// The look that finds a flag in doubt may have read the others before the
// flag landed. It does not count as the look that follows the flag.
func TestALookThatFindsItsFlagIsFollowedByAnother(t *testing.T) {
	r := newRig(t)
	a, reading := r.torn(owner("a"))
	b := r.controller(owner("b"))
	a.wants(x)
	b.wants(x)
	r.fault = func(op memory.Op) memory.Fault {
		if op.Kind == memory.Put {
			return memory.Delay()
		}
		return memory.Fault{}
	}
	_ = a.pass(false)
	r.fault = nil

	reading.meanwhile = func() {
		b.wants() // a holds it still
		if err := r.table.Land(0); err != nil {
			t.Fatal(err)
		}
	}
	a.settles()
	r.expectMembers()
	r.expectRecord(owner("a"), nil, nil)
}

// What another owner held when we looked says nothing of a registration of
// ours that landed since.
func TestAHolderIsLookedForAfterTheLastRegistration(t *testing.T) {
	r := newRig(t)
	a, reading := r.torn(owner("a"))
	b := r.controller(owner("b"))
	b.wants(x)
	a.client.Before = lateOnce()
	a.wants(x)

	reading.meanwhile = func() {
		b.wants() // a releases it as well, so b takes it out
		r.expectMembers()
		r.group.Land(0)
		r.clock.Advance(ownership.Settle + time.Second)
	}
	a.settles()
	r.expectMembers()
	r.expectRecord(owner("a"), nil, nil)
}

// lateOnce lets the first call go on its way and land later.
func lateOnce() func(*simulation.Call) simulation.Fate {
	late := simulation.Delayed
	return func(*simulation.Call) simulation.Fate {
		what := late
		late = simulation.Applied
		return what
	}
}
