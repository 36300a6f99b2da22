package simulation

import (
	"context"
	"iter"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// process is one run of a cluster's controller.
type process struct {
	cluster *cluster
	workers []*worker
	frozen  time.Time // until then it does not run

	cache  map[*binding]ownership.Set // what its bindings wanted when it froze
	lagged time.Time                  // until then it knows no better
}

// wants is what the caches of the process say.
func (p *process) wants(b *binding, now time.Time) ownership.Set {
	if seen, found := p.cache[b]; found && !b.deleted && now.Before(p.lagged) {
		return seen
	}
	return b.want
}

// worker reconciles one binding in one process. It is a coroutine that pauses
// before and after the effect of every call, so that the simulation decides
// what happens in between.
type worker struct {
	world      *world
	process    *process
	binding    *binding
	reconciler Reconciler

	resume  func() (string, bool) // runs to the next pause
	stop    func()                // dies where it is paused
	yield   func(string) bool
	at      string
	ended   bool
	call    *Call // the call to the group that is being made
	sending bool  // the call has begun and had no effect yet
	adrift  bool  // it was frozen since, and the call goes its own way
	read    int   // the step in which its last complete reading began
}

// died unwinds a worker that was stopped.
type died struct{}

func (w *world) newProcess(c *cluster) *process {
	p := &process{cluster: c}
	for _, b := range c.bindings {
		if !b.gone && !b.left {
			p.workers = append(p.workers, w.newWorker(p, b))
		}
	}
	return p
}

func (w *world) newWorker(p *process, b *binding) *worker {
	x := &worker{world: w, process: p, binding: b}
	x.reconciler = w.config.Method.Start(Env{
		Owner: b.owner, UID: b.uid, Now: w.clock.Now, NewID: w.newID,
		Table: pausing{x}, List: listing{x}, Group: caller{x.client(), x},
	})
	x.resume, x.stop = iter.Pull(x.run)
	x.step() // to its first idle pause
	return x
}

// employ has the leader work on a binding that it does not know.
func (w *world) employ(b *binding) {
	p := w.home(b).leader()
	p.workers = append(p.workers, w.newWorker(p, b))
}

// employed reports whether the leader works on the binding. It never works on
// one twice at a time.
func (w *world) employed(b *binding) bool {
	c := w.home(b)
	return c.lost || slices.ContainsFunc(c.leader().workers, func(x *worker) bool { return x.binding == b })
}

func (w *world) home(b *binding) *cluster {
	i := slices.IndexFunc(w.clusters, func(c *cluster) bool { return c.id == b.owner.Cluster })
	return w.clusters[i]
}

func (x *worker) run(yield func(string) bool) {
	defer func() {
		if r := recover(); r != nil && r != (died{}) {
			panic(r)
		}
	}()
	x.yield = yield
	for x.pause("idle"); !x.binding.gone; x.pause("idle") {
		x.reconcile()
	}
}

// step runs the worker to its next pause.
func (x *worker) step() {
	at, goesOn := x.resume()
	x.at, x.ended = at, !goesOn
}

func (x *worker) idle() bool { return x.at == "idle" }

// goesOn pauses and reports whether the worker lives on.
func (x *worker) goesOn(at string) bool { return x.yield(at) }

func (x *worker) pause(at string) {
	if !x.goesOn(at) {
		panic(died{})
	}
}

func (x *worker) leads() bool {
	c := x.process.cluster
	return len(c.processes) > 0 && c.leader() == x.process
}

func (x *worker) reconcile() {
	w, b := x.world, x.binding
	before, wanted := w.epochs(b.owner), w.now(x)
	if !w.calm && w.random.IntN(8) == 0 {
		x.pause("knows what it wants")
	}
	report, err := x.reconciler.Reconcile(context.Background(), wanted)
	if err != nil {
		w.log("%s: the pass ends: %v", b, err)
		return
	}
	if x.leads() {
		w.books.rely(x, report.InPlace, before)
	}
	if report.Done && b.deleted {
		b.deleted, b.gone = false, true
		w.log("%s: is gone", b)
	}
}

// run lets a worker go on to its next pause. A process that has lost the lead
// ends its passes and no more. A pass that makes no call at all is no step.
func (w *world) run(x *worker) (ran bool) {
	if x.ended || x.process.frozen.After(w.clock.now) {
		return false
	}
	began := x.idle()
	w.last = x
	x.step()
	if !began || !x.idle() {
		w.outcome.Steps++
	}
	if x.idle() && !x.leads() {
		x.end()
	}
	if x.ended {
		w.dismiss(x)
	}
	return true
}

func (x *worker) end() {
	x.stop()
	x.ended = true
}

func (w *world) dismiss(x *worker) {
	w.damage.aware(x, w.clock.now)
	p := x.process
	p.workers = slices.DeleteFunc(p.workers, func(o *worker) bool { return o == x })
	p.cluster.retire()
}

// retire ends old leaders that have nothing left to do.
func (c *cluster) retire() {
	c.processes = slices.DeleteFunc(c.processes, func(p *process) bool { return p != c.leader() && len(p.workers) == 0 })
}

// stop ends a process wherever its workers are.
func (p *process) stop() {
	for _, x := range p.workers {
		x.end()
	}
}
