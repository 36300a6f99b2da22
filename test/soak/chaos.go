package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"target-ownership-controller/ownership"
)

// ledgerOfFaults counts the faults, and knows those that go on.
type ledgerOfFaults struct {
	mu     sync.Mutex
	counts map[string]int
	now    map[string]string // by lane
}

func (l *ledgerOfFaults) begin(lane, kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[kind]++
	l.now[lane] = kind
}

func (l *ledgerOfFaults) end(lane string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.now, lane)
}

func (l *ledgerOfFaults) goingOn() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, lane := range slices.Sorted(maps.Keys(l.now)) {
		if kind := l.now[lane]; kind != lane {
			list = append(list, lane+": "+kind)
		} else {
			list = append(list, kind)
		}
	}
	return strings.Join(list, ", ")
}

// chaos is rounds of faults, each with a table loss at its end.
func (s *soak) chaos(ctx context.Context) error {
	n, length := rounds(s.phases.chaos)
	// Half a round at most, so that it has other faults of the lane too.
	lanes := newLanes(s.sites, length/2, s.random)
	for i := range n {
		s.screen.say("chaos, round %d of %d: faults for %s, then the table is lost", i+1, n, length)
		if err := s.runLanes(ctx, lanes, length); err != nil {
			return err
		}
		if err := s.loseTable(ctx); err != nil {
			return err
		}
	}
	return nil
}

// runLanes ends with all faults lifted.
func (s *soak) runLanes(ctx context.Context, lanes []*lane, length time.Duration) error {
	round, stop := context.WithTimeout(ctx, length)
	defer stop()
	var all sync.WaitGroup
	for _, l := range lanes {
		all.Go(func() {
			if err := s.runLane(ctx, round, l); err != nil {
				s.fail(&problem{what: err.Error()})
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func (s *soak) runLane(ctx, round context.Context, l *lane) error {
	for {
		next := l.next()
		if pause(round, next.pause) != nil {
			return nil
		}
		lift, err := s.begin(ctx, l, next)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", l.name, next.kind, err)
		}
		s.faults.begin(l.name, next.kind)
		_ = pause(round, next.hold) // the end of the round is the end of the fault
		s.faults.end(l.name)
		if ctx.Err() != nil {
			return nil // all is over, and stopped elsewhere
		}
		if err := lift(); err != nil {
			return fmt.Errorf("%s, end of %s: %w", l.name, next.kind, err)
		}
	}
}

// begin begins a fault and returns what ends it.
func (s *soak) begin(ctx context.Context, l *lane, next strike) (lift func() error, err error) {
	if l.site == nil {
		return func() error { return nil }, s.takeOutAny(ctx, next.size)
	}
	s.screen.event("%s: %s for %s", l.name, next.kind, next.hold.Round(100*time.Millisecond))
	switch next.kind {
	case killed:
		return func() error { return s.restart(ctx, l.site) }, l.site.kill()
	case frozen:
		return l.site.resume, l.site.stop()
	default:
		return s.disturb(ctx, l, next)
	}
}

// disturb begins a fault of a way.
func (s *soak) disturb(ctx context.Context, l *lane, next strike) (lift func() error, err error) {
	name, way := l.site.name, l.site.elb
	if l.toTable {
		way = l.site.table
	}
	switch {
	case next.kind == throttled && l.toTable:
		s.table.throttle(name, true)
		return func() error { s.table.throttle(name, false); return nil }, nil
	case next.kind == throttled || next.kind == late:
		s.lb.disturb(name, next.kind, next.size)
		return func() error { s.lb.disturb(name, "", 0); return nil }, nil
	case next.kind == cutOff:
		way.cut()
		return func() error { return way.become(ctx) }, nil
	default:
		return func() error { return way.become(ctx) }, way.become(ctx, toxicsFor(next.kind, next.size)...)
	}
}

// takeOutAny takes some target out of the group, as a person might.
func (s *soak) takeOutAny(ctx context.Context, size float64) error {
	in := sets.List(sets.New(s.lb.registered()...).Difference(s.external))
	if len(in) == 0 {
		return nil
	}
	t := in[int(size*float64(len(in)))]
	s.screen.event("%s is taken out by hand", t)
	return s.lb.takeOut(ctx, t)
}

// restart starts a controller that was killed, and notes what it finds.
func (s *soak) restart(ctx context.Context, at *site) error {
	read, err := s.records(ctx)
	if err != nil {
		return err
	}
	at.found = map[ownership.Owner]ownership.Revision{}
	for _, r := range read.Records {
		if r.Owner.Cluster == at.name && !r.Empty() {
			at.found[r.Owner] = r.Revision
		}
	}
	return s.runController(at)
}
