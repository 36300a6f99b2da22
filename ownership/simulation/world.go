package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// world is a table, a group and some clusters, under a scheduler that picks
// each next step at random.
type world struct {
	config  Config
	shape   shape
	outcome Outcome

	source *rand.PCG
	random *rand.Rand
	step   int
	calm   bool // no faults and no changes any more
	clock  *Clock
	ids    int

	shared *table // of all clusters
	lists  *table // of each cluster alone; nobody reads another's
	group  *Group
	listed ownership.Set // what somebody listed last
	all    []ownership.Target

	rereads bool // in calm: passes begin with a reading of the records

	clusters []*cluster
	pods     []*pod
	last     *worker // that ran last
	hot      *pod    // that something happened to last

	books     *books
	damage    damage
	copies    [2]memory.Snapshot // of both tables, of an earlier time
	mutations int                // calls made to change something, or to read the others
}

func newWorld(c Config) *world {
	c.Method = cmp.Or[Method](c.Method, Protocol{})
	source := rand.NewPCG(c.Seed, 0)
	w := &world{config: c, source: source, random: rand.New(source), clock: NewClock(), books: newBooks()}
	w.shape = draw(w.random, c.Shared)
	w.outcome = Outcome{Seed: c.Seed, World: w.shape.String(), Faults: map[string]int{}}
	w.shared, w.lists = newTable(w.written), newTable(w.written)
	w.copies = [2]memory.Snapshot{w.shared.Snapshot(), w.lists.Snapshot()}

	w.group = NewGroup(w.clock, outsiders...)
	w.group.onLanding, w.group.Quota, w.group.Invalid = w.landed, w.shape.quota, ownership.Set{}
	for i := range w.shape.addresses {
		w.pods = append(w.pods, &pod{target: address(i)})
		w.group.Invalid[address(i)] = i < w.shape.invalid
	}
	for i, bindings := range w.shape.bindings {
		w.clusters = append(w.clusters, w.newCluster(string(rune('a'+i)), bindings))
	}
	w.next()
	return w
}

func (w *world) newID() string { w.ids++; return fmt.Sprint("id-", w.ids) }

// cluster is some bindings and the processes that reconcile them. All
// processes but the last have lost the lead without knowing.
type cluster struct {
	id        string
	bindings  []*binding
	processes []*process
	lost      bool
}

func (c *cluster) leader() *process { return c.processes[len(c.processes)-1] }

// binding is what a Service of a cluster wants of the group.
type binding struct {
	owner     ownership.Owner
	uid       string
	want      ownership.Set
	exclusive bool
	once      bool // exclusive at some time
	deleted   bool // and its finalizer is still there
	gone      bool
	left      bool // out of the simulation: a smaller run fails as well
}

func (b *binding) String() string { return b.owner.Cluster + "/" + b.owner.Name }

func (b *binding) live() bool { return !b.deleted && !b.gone && !b.left }

func (w *world) newCluster(id string, bindings int) *cluster {
	c := &cluster{id: id}
	for _, name := range []string{"web", "api", "pay", "img", "log"}[:bindings] {
		o := ownership.Owner{Cluster: id, Namespace: "shop", Name: name}
		c.bindings = append(c.bindings, &binding{owner: o, uid: w.newID(), want: ownership.Set{}, left: w.config.without.owners[o]})
	}
	c.processes = []*process{w.newProcess(c)}
	return c
}

func (c *cluster) live() []*binding {
	return slices.DeleteFunc(slices.Clone(c.bindings), func(b *binding) bool { return !b.live() })
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// act takes one step of the world.
func (w *world) act() {
	c := pick(w.random, w.clusters)
	b := pick(w.random, c.bindings)
	switch n := w.random.IntN(1000); {
	case n < 100:
		w.pass(pick(w.random, paces[w.shape.pace]))
	case n < 180:
		w.movePod()
	case n < 220:
		if len(w.group.UnderWay) > 0 {
			w.landCall(w.random.IntN(len(w.group.UnderWay)))
		}
	case n < 250:
		w.landWrite(pick(w.random, []*table{w.shared, w.lists}))
	case n < 255:
		w.crash(c)
	case n < 259:
		w.lead(c)
	case n < 263:
		w.freeze(c)
	case n < 269:
		w.bind(b)
	case n < 274:
		w.turn(b)
	case n < 280:
		w.harm(b)
	case n < 281:
		w.lose(c)
	default:
		w.work(c)
	}
}

// work lets a worker go on to its next pause: often the one that ran last,
// else one that is in the middle of a pass or finds something to do.
func (w *world) work(c *cluster) {
	if last := w.last; last != nil && !last.ended && !last.idle() && w.coin() {
		w.run(last)
		return
	}
	for range 4 {
		if c.lost {
			c = pick(w.random, w.clusters)
			continue
		}
		if p := pick(w.random, c.processes); len(p.workers) > 0 {
			if x := pick(w.random, p.workers); w.run(x) && !x.idle() {
				return
			}
		}
		c = pick(w.random, w.clusters)
	}
}

// pass lets time pass. What is due meanwhile happens: a call that was given
// up lands, and one that is being made has its answer.
func (w *world) pass(d time.Duration) {
	w.outcome.Steps++
	end := w.clock.now.Add(d)
	for {
		due, happen := w.firstDue(end)
		if happen == nil {
			break
		}
		if due.After(w.clock.now) {
			w.clock.now = due
		}
		happen()
		w.checkRecorded()
	}
	w.clock.now = end
}

// inFlight is how long after its start a call can still land: its budget, and
// what Settle leaves when a look may have been as old as another budget.
const inFlight = ownership.Settle - ownership.CallBudget

func (w *world) firstDue(end time.Time) (due time.Time, happen func()) {
	earliest := func(at time.Time, f func()) {
		if !at.After(end) && (happen == nil || at.Before(due)) {
			due, happen = at, f
		}
	}
	for i, c := range w.group.UnderWay {
		earliest(c.Start.Add(inFlight), func() { w.landCall(i) })
	}
	for _, c := range w.clusters {
		for _, p := range c.processes {
			for _, worker := range p.workers {
				if worker.call == nil {
					continue
				}
				at := worker.call.Start.Add(ownership.CallBudget)
				if p.frozen.After(at) {
					at = p.frozen
				}
				earliest(at, func() { w.run(worker) })
			}
		}
	}
	return due, happen
}

func (w *world) landCall(i int) {
	w.outcome.Steps++
	w.log("lands: %s: %s", w.group.UnderWay[i].By, w.group.UnderWay[i])
	w.group.Land(i)
}

func (w *world) landWrite(t *table) {
	delayed := t.Delayed()
	if len(delayed) == 0 {
		return
	}
	w.outcome.Steps++
	i := w.random.IntN(len(delayed))
	w.log("lands: a %s of %s: %v", delayed[i].Kind, delayed[i].Owner, t.Land(i))
}

// list returns the group as it is, or as it was when somebody listed it last.
func (w *world) list() ownership.Set {
	if w.listed == nil || !w.chance(30, "listing lags") {
		w.listed = w.group.Listing()
	}
	return maps.Clone(w.listed)
}

func (w *world) end() {
	for _, c := range w.clusters {
		for _, p := range c.processes {
			p.stop()
		}
	}
}
