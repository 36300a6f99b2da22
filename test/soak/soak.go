package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"target-ownership-controller/ownership"
)

// Options of a soak. All are required.
type Options struct {
	Out      io.Writer
	Duration time.Duration // of all parts but the start and the end
	Seed     uint64        // of all draws
	// Controller is the program to run, Charts the folder with the CRD's chart.
	Controller, Charts string
}

// comparePeriod is the shortest that a controller takes.
const comparePeriod = 10 * time.Second

// soak is everything that runs, and what was seen of it.
type soak struct {
	options Options
	phases  phases
	screen  *screen
	cancel  context.CancelCauseFunc
	dir     string // logs of the controllers

	table    *table
	lb       *loadBalancer
	sites    []*site
	external sets.Set[string]
	guard    *guard

	work      workload
	faults    ledgerOfFaults
	lossDraws *rand.Rand

	logLines    int           // in healthy time
	logTargets  int           // registered or taken out in that time
	waited      time.Duration // by a ready pod at most in that time, until it was in the group
	backAfter   time.Duration // a target taken out by hand in healthy time
	recovered   time.Duration // after the storm
	lost, leaks int           // at the end

	closing sync.Mutex
	closers []func() error
}

// sourceLoss is the number of the random source of table losses.
const sourceLoss = 400

// Run makes a soak, stops everything that it started, and prints how it came
// out. The error is [ErrInterrupted], what was found to be wrong, or what kept
// it from being looked at.
func Run(ctx context.Context, options Options) error {
	s, err := newSoak(options)
	if err != nil {
		return err
	}
	run, cancel := context.WithCancelCause(ctx)
	s.cancel = cancel
	s.screen.say("soak of %s, seed %d", options.Duration, options.Seed)
	err = s.play(run)
	if found := context.Cause(run); found != nil {
		err = found // what ended it, not what that led to
	}
	if ctx.Err() != nil {
		err = ErrInterrupted
	}
	return s.end(err)
}

func newSoak(options Options) (*soak, error) {
	phases, err := split(options.Duration)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return nil, err
	}
	s := &soak{
		options: options, phases: phases, dir: dir,
		screen:   &screen{begun: time.Now(), out: options.Out, detailed: options.Duration <= 30*time.Minute},
		external: sets.New("10.9.0.1:8080", "10.9.0.2:8080", "10.9.0.3:8080"),
		sites: []*site{
			{name: "east", podCIDR: "10.1.0.0/16", steady: "10.98.0.1"},
			{name: "north", podCIDR: "10.2.0.0/16", steady: "10.98.0.2"},
			{name: "west", podCIDR: "10.3.0.0/16", steady: "10.98.0.3"},
		},
		faults: ledgerOfFaults{counts: map[string]int{}, now: map[string]string{}},
	}
	s.lossDraws = s.random(sourceLoss)
	s.guard = newGuard(facts{s.records, s.ready, s.frozenCall}, sets.KeySet(s.byName()), s.external, s.fail)
	return s, nil
}

func (s *soak) byName() map[string]*site {
	sites := map[string]*site{}
	for _, at := range s.sites {
		sites[at.name] = at
	}
	return sites
}

// records reads all records of the group, past all faults.
func (s *soak) records(ctx context.Context) (ownership.Records, error) {
	return s.table.store.Records(ctx, ownership.GroupARN(s.lb.group.ARN))
}

func (s *soak) ready(ctx context.Context, cluster string) (pods, error) {
	return s.byName()[cluster].ready(ctx)
}

// frozenCall tells whether a call that lands now can be one that was frozen
// between the check of its deadline and its way: its process stood still for
// longer than a call may wait, and has not asked the table since.
func (s *soak) frozenCall(caller string, landed time.Time) bool {
	f := s.byName()[caller].lastFreeze()
	return !f.begin.IsZero() && f.end.Sub(f.begin) >= ownership.CallBudget &&
		landed.After(f.end) && s.table.lastAsked(caller).Before(f.begin)
}

func (s *soak) play(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	go s.watch(ctx)
	for _, part := range []func(context.Context) error{s.healthy, s.chaos, s.storm, s.quiet} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

const (
	sweepEvery = 500 * time.Millisecond
	// tellEvery and tellRarely are between two lines on how things are.
	tellEvery, tellRarely = 15 * time.Second, time.Minute
)

// watch says how things are until the soak ends.
func (s *soak) watch(ctx context.Context) {
	every, told := tellRarely, time.Now()
	if s.screen.detailed {
		every = tellEvery
	}
	for pause(ctx, sweepEvery) == nil {
		if err := s.guard.sweep(ctx); err != nil && ctx.Err() == nil {
			s.fail(&problem{what: err.Error()})
		}
		if time.Since(told) >= every {
			told = time.Now()
			s.tell()
		}
	}
}

// onClose has something done at the end, last in first out.
func (s *soak) onClose(f func() error) {
	s.closing.Lock()
	defer s.closing.Unlock()
	s.closers = append(s.closers, f)
}

func (s *soak) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// end stops everything and prints how it came out. Something left running is
// a failure too.
func (s *soak) end(err error) error {
	interrupted := errors.Is(err, ErrInterrupted)
	if p := new(problem); errors.As(err, &p) {
		s.explain(p)
	}
	s.cancel(err)
	s.work.done.Wait()
	closing := s.close()
	if s.work.stop != nil { // else nothing has happened yet
		s.report()
	}
	failed := errors.Join(err, closing)
	if failed == nil || interrupted && closing == nil {
		_ = os.RemoveAll(s.dir) // a folder of logs that stays harms nobody
	}
	switch {
	case failed == nil:
		s.screen.print(fmt.Sprintf("\nsoak: clean after %s", s.options.Duration))
	case interrupted && closing == nil:
		s.screen.print("\nsoak: interrupted")
	default:
		s.screen.print(fmt.Sprintf("\n%slogs are in %s\n\nsoak: failed, seed %d: %v", indent, s.dir, s.options.Seed, failed))
	}
	return failed
}
