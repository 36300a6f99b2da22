package pass_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

const arn ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

func owner(cluster string) ownership.Owner {
	return ownership.Owner{Cluster: cluster, Namespace: "shop", Name: "web"}
}

// binder is a binding of a cluster: what it wants, and the processes that
// reconcile it. All but the last have lost the leadership without knowing.
type binder struct {
	owner     ownership.Owner
	want      ownership.Set
	exclusive bool
	processes []*process
}

func (b *binder) String() string   { return b.owner.Cluster + "/" + b.owner.Name }
func (b *binder) leader() *process { return b.processes[len(b.processes)-1] }

// world is a table, a group and some binders, under a scheduler that picks
// each next step at random. The same seed gives the same run.
type world struct {
	scenario scenario
	random   *rand.Rand
	calm     bool // no faults any more
	rereads  bool // passes begin with a look
	clock    *clock
	table    *memory.Table
	fault    memory.Fault // of the next call to the table
	group    *group
	listed   ownership.Set
	binders  []*binder
	stored   map[ownership.Owner]ownership.Record
	epoch    map[claim]int  // counts how often an owner began to hold a target
	relied   map[claim]bool // held, and registered since it is held
	ids      int

	verbose   bool
	history   []string
	violation string
}

type claim struct {
	owner  ownership.Owner
	target ownership.Target
}

// scenario is the kind of world.
type scenario struct {
	owners    []ownership.Owner
	switching bool // bindings turn exclusive and shared again
	comparing bool // passes compare with listings, which lag at times
}

var (
	pool      = []ownership.Target{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "10.0.0.4:80"}
	externals = []ownership.Target{"10.9.0.1:80", "10.9.0.2:80"}
)

func newWorld(sc scenario, seed uint64, verbose bool) *world {
	w := &world{
		scenario: sc, random: rand.New(rand.NewPCG(seed, 0)), verbose: verbose,
		clock: newClock(), table: memory.New(),
		stored: map[ownership.Owner]ownership.Record{},
		epoch:  map[claim]int{}, relied: map[claim]bool{},
	}
	w.group = newGroup(w.clock, externals...)
	w.group.landed = w.landed
	w.table.Observe(w.written)
	w.table.Intercept(func(memory.Op) memory.Fault {
		f := w.fault
		w.fault = memory.Fault{}
		return f
	})
	for _, o := range sc.owners {
		b := &binder{owner: o, want: ownership.Set{}}
		w.binders = append(w.binders, b)
		b.processes = []*process{w.start(b)}
	}
	return w
}

func (w *world) coin() bool { return w.random.IntN(2) == 0 }

func (w *world) chance(percent int) bool { return !w.calm && w.random.IntN(100) < percent }

func (w *world) compares() bool { return w.scenario.comparing && (w.calm || w.chance(30)) }

func (w *world) newID() string { w.ids++; return fmt.Sprint("write-", w.ids) }

func (w *world) log(format string, args ...any) {
	if w.verbose {
		w.history = append(w.history, fmt.Sprintf("%5.0fs  ", w.clock.now.Sub(newClock().now).Seconds())+fmt.Sprintf(format, args...))
	}
}

func (w *world) violated(format string, args ...any) {
	if w.violation == "" {
		w.violation = fmt.Sprintf(format, args...)
		w.log("VIOLATED: %s", w.violation)
	}
}

// act takes one step of the world.
func (w *world) act() {
	b := w.binders[w.random.IntN(len(w.binders))]
	switch n := w.random.IntN(100); {
	case n < 66:
		w.run(b.processes[w.random.IntN(len(b.processes))])
	case n < 78:
		w.pass([]time.Duration{time.Second, 5 * time.Second, 19 * time.Second, 31 * time.Second, 61 * time.Second}[w.random.IntN(5)])
	case n < 84:
		w.rewant(b)
	case n < 89:
		if len(w.group.underWay) > 0 {
			w.landCall(w.random.IntN(len(w.group.underWay)))
		}
	case n < 93:
		if on := w.table.Delayed(); len(on) > 0 {
			w.landPut(w.random.IntN(len(on)))
		}
	case n < 95:
		w.crash(b)
	case n < 96:
		w.log("%s: another process takes the lead", b)
		b.processes = append(b.processes, w.start(b))
	case n < 98 && w.scenario.switching:
		b.exclusive = !b.exclusive
		w.log("%s: exclusive: %t", b, b.exclusive)
	}
}

// run lets a process go on to its next pause. A process that has lost the
// leadership ends with its pass.
func (w *world) run(p *process) {
	p.step()
	if b := p.binder; p.idle() && p != b.leader() {
		w.log("%s: an old leader ends", b)
		p.stop()
		b.processes = slices.DeleteFunc(b.processes, func(q *process) bool { return p == q })
	}
}

// crash ends all processes of a binder wherever they are.
func (w *world) crash(b *binder) {
	w.log("%s: crashes at %q", b, b.leader().at)
	for _, p := range b.processes {
		p.stop()
	}
	b.processes = []*process{w.start(b)}
}

// rewant changes what a binder wants: a target comes, goes, or moves over
// from whoever had it, as an address does that is used again.
func (w *world) rewant(b *binder) {
	t := pool[w.random.IntN(len(pool))]
	switch {
	case b.want[t]:
		delete(b.want, t)
		w.log("%s: no longer wants %s", b, t)
	default:
		if w.random.IntN(3) > 0 {
			for _, other := range w.binders {
				delete(other.want, t)
			}
		}
		b.want[t] = true
		w.log("%s: wants %s", b, t)
	}
}

// pass lets time pass, but not beyond what a call may take: one that is being
// made has an answer within its budget, one that was given up lands within
// as much again.
func (w *world) pass(d time.Duration) {
	end := w.clock.now.Add(d)
	for _, b := range w.binders {
		for _, p := range b.processes {
			if p.call != nil && p.call.start.Add(ownership.CallBudget).Before(end) {
				end = p.call.start.Add(ownership.CallBudget)
			}
		}
	}
	for i := 0; i < len(w.group.underWay); {
		if due := w.group.underWay[i].start.Add(ownership.Settle - ownership.CallBudget); !due.After(end) {
			w.landCall(i)
		} else {
			i++
		}
	}
	if end.After(w.clock.now) {
		w.clock.now = end
	}
}

func (w *world) landCall(i int) {
	w.log("lands: %s: %s", w.group.underWay[i].by, w.group.underWay[i])
	w.group.land(i)
}

func (w *world) landPut(i int) {
	op := w.table.Delayed()[i]
	w.log("lands: a put of %s: %v", op.Owner, w.table.Land(i))
}

// list returns the group as it is, or as it was when somebody last listed it.
func (w *world) list() ownership.Set {
	if w.listed == nil || !w.chance(30) {
		w.listed = w.group.listing()
	}
	return maps.Clone(w.listed)
}

// mix takes each record from either of two readings.
func (w *world) mix(a, b []ownership.Record) []ownership.Record {
	var mixed []ownership.Record
	for _, binder := range w.binders {
		from := a
		if w.coin() {
			from = b
		}
		for _, r := range from {
			if r.Owner == binder.owner {
				mixed = append(mixed, r)
			}
		}
	}
	return mixed
}

func describe(records []ownership.Record) string {
	var parts []string
	for _, r := range records {
		parts = append(parts, fmt.Sprintf("%s/%s v%d held %v releasing %v", r.Owner.Cluster, r.Owner.Name, r.Version,
			slices.Sorted(maps.Keys(r.Held)), slices.Sorted(maps.Keys(r.Releasing))))
	}
	return strings.Join(parts, "; ")
}
