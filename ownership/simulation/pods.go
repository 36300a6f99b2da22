package simulation

import (
	"slices"

	"target-ownership-controller/ownership"
)

// pod is an address and whoever has it at the time.
type pod struct {
	target   ownership.Target
	home     *cluster   // that runs it; nil: the address is free
	earlier  *cluster   // that had the address before
	bindings []*binding // whose Services select it
	ready    bool
	stale    []*binding // that have not noticed that it is gone
}

// movePod is what happens to pods: one starts where an address is free, moves
// its address to another cluster, fails, returns, is selected by other
// Services, ends.
func (w *world) movePod() {
	w.outcome.Steps++
	p := pick(w.random, w.pods)
	if w.hot != nil && w.coin() {
		p = w.hot
	}
	w.hot = p
	w.unwant(p, p.stale)
	p.stale = nil
	switch n := w.random.IntN(10); {
	case p.home == nil:
		w.startPod(p, pick(w.random, w.clusters))
	case n < 4:
		next := pick(w.random, w.clusters)
		w.endPod(p)
		w.startPod(p, next)
	case n < 6 && p.ready:
		p.ready = false
		w.log("%s: is not ready", p.target)
		w.unwant(p, p.bindings)
	case n < 6:
		p.ready = true
		w.log("%s: is ready again", p.target)
		w.want(p)
	case n < 8:
		if b := pick(w.random, p.home.bindings); slices.Contains(p.bindings, b) {
			w.unwant(p, []*binding{b})
			p.bindings = slices.DeleteFunc(p.bindings, func(o *binding) bool { return o == b })
		} else {
			p.bindings = append(p.bindings, b)
			w.want(p)
		}
	default:
		w.endPod(p)
	}
}

func (w *world) startPod(p *pod, c *cluster) {
	candidates := c.live()
	if c.lost || len(candidates) == 0 {
		return
	}
	if p.earlier != nil && p.earlier != c {
		w.outcome.Moves++
		w.log("%s: moves from %s to %s", p.target, p.earlier.id, c.id)
	}
	p.home, p.earlier, p.ready = c, c, true
	first := pick(w.random, candidates)
	p.bindings = []*binding{first}
	for _, b := range candidates {
		if b != first && w.random.IntN(3) == 0 {
			p.bindings = append(p.bindings, b)
		}
	}
	w.want(p)
}

// endPod takes the pod from its cluster, which may notice only later.
func (w *world) endPod(p *pod) {
	gone := p.bindings
	p.home, p.bindings, p.ready = nil, nil, false
	if w.random.IntN(3) == 0 {
		p.stale = gone
		return
	}
	w.unwant(p, gone)
}

func (w *world) want(p *pod) {
	for _, b := range p.bindings {
		if p.ready && b.live() && !b.want[p.target] {
			b.want[p.target] = true
			w.log("%s: wants %s", b, p.target)
		}
	}
}

func (w *world) unwant(p *pod, bindings []*binding) {
	for _, b := range bindings {
		if b.want[p.target] {
			delete(b.want, p.target)
			w.log("%s: no longer wants %s", b, p.target)
		}
	}
}
