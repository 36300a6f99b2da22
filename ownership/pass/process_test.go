package pass_test

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
)

// process is one run of a controller. It is a coroutine that pauses before
// and after the effect of every call, so that the simulation decides what
// happens in between.
type process struct {
	world  *world
	binder *binder
	ledger *ownership.Ledger

	resume func() (string, bool) // runs to the next pause
	stop   func()                // dies where it is paused
	yield  func(string) bool
	at     string
	call   *call // the call to the group that is being made
}

// died unwinds a process that was stopped.
type died struct{}

func (w *world) start(b *binder) *process {
	p := &process{world: w, binder: b}
	p.ledger = ownership.NewLedger(pausing{p}, ownership.Identity{Group: arn, Owner: b.owner},
		ownership.Env{Now: w.clock.Now, NewID: w.newID})
	p.resume, p.stop = iter.Pull(p.run)
	p.step() // to its first idle pause
	return p
}

func (p *process) run(yield func(string) bool) {
	defer func() {
		if r := recover(); r != nil && r != (died{}) {
			panic(r)
		}
	}()
	p.yield = yield
	for {
		p.pause("idle")
		p.pass()
	}
}

// step runs the process to its next pause.
func (p *process) step() { p.at, _ = p.resume() }

func (p *process) idle() bool { return p.at == "idle" }

// alive pauses and reports whether the process goes on.
func (p *process) alive(at string) bool { return p.yield(at) }

func (p *process) pause(at string) {
	if !p.alive(at) {
		panic(died{})
	}
}

func (p *process) pass() {
	binding := plan.Binding{Want: maps.Clone(p.binder.want), Exclusive: p.binder.exclusive}
	p.ledger.Begin()
	if compares := p.world.compares(); compares || p.world.rereads {
		if p.ledger.Look(context.Background()) != nil {
			return
		}
		if compares {
			p.pause("list")
			p.ledger.Listed(p.world.list())
		}
	}
	run := pass.Pass{Ledger: p.ledger, Group: p.client(), Binding: binding, Now: p.world.clock.Now}
	err := run.Run(context.Background())
	p.world.log("%s: end of pass: %v", p.binder, err)
}

// pausing is the table as one process sees it.
type pausing struct{ *process }

func (s pausing) Records(ctx context.Context, group ownership.GroupARN) (ownership.Records, error) {
	w := s.world
	s.pause("look")
	if w.chance(3) {
		return ownership.Records{}, fmt.Errorf("look: %w", ownership.ErrUnavailable)
	}
	first, err := w.table.Records(ctx, group)
	if err != nil {
		return first, err
	}
	// A query is no snapshot: each record may be from either time.
	s.pause("look on")
	second, err := w.table.Records(ctx, group)
	seen := ownership.Records{Records: w.mix(first.Records, second.Records)}
	w.log("%s: looks: %s", s.binder, describe(seen.Records))
	s.pause("look reply")
	return seen, err
}

func (s pausing) Put(ctx context.Context, next ownership.Record, seen ownership.Revision) error {
	w := s.world
	put := func(f memory.Fault) error {
		w.fault = f
		err := w.table.Put(ctx, next, seen)
		w.log("%s: put %s: %v", s.binder, describe([]ownership.Record{next}), err)
		return err
	}
	if !s.alive("put") {
		if w.coin() {
			_ = put(memory.Delay())
		}
		panic(died{})
	}
	var err error
	switch {
	case w.chance(3):
		err = put(memory.Refuse(ownership.ErrThrottled))
	case w.chance(3):
		err = put(memory.LoseReply())
	case w.chance(3):
		err = put(memory.Delay())
	case w.chance(3):
		_ = put(memory.LoseReply())
		err = put(memory.Fault{}) // the SDK tries again
	default:
		err = put(memory.Fault{})
	}
	s.pause("put reply")
	return err
}

func (s pausing) Delete(context.Context, ownership.Record) error { panic("no pass deletes") }

func (s pausing) Groups(context.Context, string) ([]ownership.Key, error) { panic("no pass asks") }

// client is the group as the process sees it.
func (p *process) client() client {
	return client{group: p.world.group, owner: p.binder.owner, before: p.send, after: func() {
		p.pause("group reply")
		p.call = nil
	}}
}

func (p *process) send(c *call) fate {
	w := p.world
	c.epochs = w.epochs(c.by, c.targets)
	p.call = c
	if !p.alive(c.verb) {
		if w.coin() {
			w.group.underWay = append(w.group.underWay, *c)
		}
		panic(died{})
	}
	what := applied
	switch {
	case w.chance(5):
		what = refused
	case w.chance(5):
		what = lost
	case w.chance(10):
		what = delayed
	case w.chance(3):
		what = vanished
	}
	w.log("%s: %s: %s", p.binder, c, what)
	return what
}
