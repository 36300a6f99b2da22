package pass_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

const arn ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

var externals = []ownership.Target{"10.9.0.1:80", "10.9.0.2:80"}

func owner(cluster string) ownership.Owner {
	return ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}
}

func set(targets ...ownership.Target) ownership.Set {
	s := ownership.Set{}
	for _, t := range targets {
		s[t] = true
	}
	return s
}

// rig is a table and a group that some controllers share, with all calls
// counted.
type rig struct {
	t     *testing.T
	clock *simulation.Clock
	table *memory.Table
	group *simulation.Group
	calls map[memory.Kind]int
	fault func(memory.Op) memory.Fault
	ids   int
}

func newRig(t *testing.T, members ...ownership.Target) *rig {
	c := simulation.NewClock()
	r := &rig{t: t, clock: c, table: memory.New(), group: simulation.NewGroup(c, members...), calls: map[memory.Kind]int{}}
	r.table.Intercept(func(op memory.Op) memory.Fault {
		r.calls[op.Kind]++
		if r.fault != nil {
			return r.fault(op)
		}
		return memory.Fault{}
	})
	return r
}

// controller is one process of one owner.
type controller struct {
	rig        *rig
	ledger     *ownership.Ledger
	client     simulation.Client
	group      pass.Group // in place of the client, if set
	exclusive  bool
	tellsMode  bool
	sideBySide bool
	report     pass.Report

	releaseFirst bool
}

// controller starts a process, which knows nothing of any other.
func (r *rig) controller(o ownership.Owner) *controller {
	ledger := ownership.NewLedger(r.table, ownership.Identity{Group: arn, Owner: o, BindingUID: "uid"},
		ownership.Env{Now: r.clock.Now, NewID: func() string { r.ids++; return fmt.Sprint("write-", r.ids) }})
	return &controller{rig: r, ledger: ledger, client: simulation.Client{Group: r.group, Owner: o}}
}

// pass runs one pass, after a comparison with the group if told so.
func (c *controller) pass(compare bool, want ...ownership.Target) error {
	c.ledger.Begin(c.rig.clock.Now())
	if c.tellsMode {
		c.ledger.Mode(c.exclusive)
	}
	if compare {
		if err := c.ledger.Look(context.Background()); err != nil {
			return err
		}
		c.ledger.Listed(c.rig.group.Listing())
	}
	p := pass.Pass{
		Ledger: c.ledger, Group: c.client, Now: c.rig.clock.Now, SideBySide: c.sideBySide,
		ReleaseFirst: c.releaseFirst,
		Binding:      plan.Binding{Want: set(want...), Exclusive: c.exclusive},
	}
	if c.group != nil {
		p.Group = c.group
	}
	err := p.Run(context.Background())
	c.report = p.Report
	return err
}

// wants runs one pass that has to end well.
func (c *controller) wants(want ...ownership.Target) {
	c.rig.t.Helper()
	if err := c.pass(false, want...); err != nil {
		c.rig.t.Fatalf("%s: %v", c.client.Owner, err)
	}
}

func (c *controller) compares(want ...ownership.Target) {
	c.rig.t.Helper()
	if err := c.pass(true, want...); err != nil {
		c.rig.t.Fatalf("%s: %v", c.client.Owner, err)
	}
}

// settles runs passes over four minutes, whatever errors they end with.
func (c *controller) settles(want ...ownership.Target) {
	for range 12 {
		_ = c.pass(false, want...)
		c.rig.clock.Advance(20 * time.Second)
		for len(c.rig.group.UnderWay) > 0 {
			c.rig.group.Land(0)
		}
		for len(c.rig.table.Delayed()) > 0 {
			_ = c.rig.table.Land(0)
		}
	}
}

func (r *rig) expectMembers(want ...ownership.Target) {
	r.t.Helper()
	got := slices.Sorted(maps.Keys(r.group.Members))
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.t.Errorf("the group has %v, want %v", got, want)
	}
}

// expectRecord compares the stored record of an owner.
func (r *rig) expectRecord(o ownership.Owner, held, releasing []ownership.Target) {
	r.t.Helper()
	r.table.Intercept(nil)
	records, err := r.table.Records(context.Background(), arn)
	if err != nil {
		r.t.Fatal(err)
	}
	var own ownership.Record
	for _, rec := range records.Records {
		if rec.Owner == o {
			own = rec
		}
	}
	slices.Sort(held)
	if !slices.Equal(slices.Sorted(maps.Keys(own.Held)), held) || !slices.Equal(slices.Sorted(maps.Keys(own.Releasing)), releasing) {
		r.t.Errorf("the record is %+v, want held %v releasing %v", own, held, releasing)
	}
}

type targets = []ownership.Target

func many(n, from int) targets {
	var out targets
	for i := range n {
		out = append(out, ownership.Target(fmt.Sprintf("10.1.%d.%d:80", from, i)))
	}
	return out
}
