package simulation

import (
	"maps"
	"slices"
	"time"

	"target-ownership-controller/ownership"
)

// bind deletes a binding, or makes it anew once it is gone.
func (w *world) bind(b *binding) {
	switch {
	case b.left || w.coin():
	case b.gone && !w.employed(b):
		b.gone, b.uid = false, w.newID()
		w.log("%s: is created again", b)
		w.employ(b)
	case b.live():
		b.deleted, b.want = true, ownership.Set{}
		w.fault("binding deleted")
		w.log("%s: is being deleted", b)
	}
}

// turn makes a shared binding exclusive, and the other way round.
func (w *world) turn(b *binding) {
	if w.shape.switches && b.live() {
		b.exclusive, b.once = !b.exclusive, true
		w.fault("mode switched")
		w.log("%s: exclusive: %t", b, b.exclusive)
	}
}

func (w *world) kill(c *cluster) {
	for _, p := range c.processes {
		p.stop()
		for _, x := range p.workers {
			w.damage.aware(x, w.clock.now)
		}
	}
	c.processes = nil
}

func (w *world) crash(c *cluster) {
	if c.lost {
		return
	}
	w.fault("crash")
	w.log("%s: crashes", c.id)
	w.kill(c)
	c.processes = []*process{w.newProcess(c)}
}

// lead starts a process that takes the lead, while the others still run.
func (w *world) lead(c *cluster) {
	if c.lost || len(c.processes) > 2 {
		return
	}
	w.fault("leader change")
	w.log("%s: another process takes the lead", c.id)
	c.processes = append(c.processes, w.newProcess(c))
	for _, p := range slices.Clone(c.processes[:len(c.processes)-1]) {
		for _, x := range slices.Clone(p.workers) {
			if x.idle() {
				x.end()
				w.dismiss(x)
			}
		}
	}
	c.retire()
}

// freeze stops a process for minutes. What it was about to send is on its
// way, or not.
func (w *world) freeze(c *cluster) {
	if c.lost {
		return
	}
	p := pick(w.random, c.processes)
	minutes := 1 + w.random.IntN(10)
	w.fault("process frozen")
	w.log("%s: a process freezes for %d minutes", c.id, minutes)
	p.frozen = w.clock.now.Add(time.Duration(minutes) * time.Minute)
	w.lag(p)
	for _, x := range p.workers {
		if x.sending && !x.adrift {
			x.adrift = true
			if w.coin() {
				w.group.UnderWay = append(w.group.UnderWay, x.call)
			}
		}
	}
}

// lag has the caches of a frozen process catch up with its cluster only some
// time after it has woken up.
func (w *world) lag(p *process) {
	if !w.coin() {
		return
	}
	p.lagged = p.frozen.Add(pick(w.random, paces[1]))
	p.cache = map[*binding]ownership.Set{}
	for _, b := range p.cluster.bindings {
		p.cache[b] = maps.Clone(b.want)
	}
	w.fault("caches lag")
	w.log("%s: the caches of the process lag until %s after that", p.cluster.id, p.lagged.Sub(p.frozen))
}

// lose is the end of a cluster: its pods, its bindings and its own lists go
// with it. What it wrote elsewhere stays.
func (w *world) lose(c *cluster) {
	others := slices.DeleteFunc(slices.Clone(w.clusters), func(o *cluster) bool { return o.lost || o == c })
	if !w.shape.loses || c.lost || len(others) == 0 {
		return
	}
	w.fault("cluster lost")
	w.log("%s: is lost", c.id)
	c.lost = true
	w.kill(c)
	for _, p := range w.pods {
		if p.home == c {
			p.home, p.bindings, p.ready = nil, nil, false
		}
	}
	for _, b := range c.bindings {
		b.want, b.gone, b.deleted = ownership.Set{}, true, false
		w.lists.remove(b.owner)
	}
}
