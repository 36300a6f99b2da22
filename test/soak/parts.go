package soak

import (
	"context"
	"fmt"
	"time"

	"target-ownership-controller/ownership"
)

// repairWithin is how soon a target that was taken out by hand has to be
// back: a comparison period with its jitter, and what a pass may take on a
// busy machine.
const repairWithin = comparePeriod + comparePeriod/10 + 5*time.Second

// healthy is rollouts and moves without any fault, until at its end a person
// takes one target out.
func (s *soak) healthy(ctx context.Context) error {
	s.screen.say("healthy: Deployments roll and addresses move for %s", s.phases.healthy)
	s.startWorkload(ctx)
	if err := pause(ctx, s.phases.healthy-comparePeriod); err != nil {
		return err
	}
	lines, err := s.checkLogs()
	if err != nil {
		return &problem{at: time.Now(), what: err.Error()}
	}
	t := s.guard.seen()
	s.logLines, s.logTargets = lines, t.registrations+t.removals
	s.waited, _ = s.guard.waited()
	return s.repair(ctx)
}

// repair takes out a pod that stays, and waits until it is back.
func (s *soak) repair(ctx context.Context) error {
	t := target(s.sites[s.lossDraws.IntN(len(s.sites))].steady)
	begun := time.Now()
	s.faults.begin(byHand, byHand)
	defer s.faults.end(byHand)
	if err := s.lb.takeOut(ctx, t); err != nil {
		return err
	}
	err := until(ctx, "its controller to register "+t+" again", repairWithin, func(context.Context) (string, error) {
		for _, in := range s.lb.registered() {
			if in == t {
				return "", nil
			}
		}
		return "it is not in the group", nil
	})
	if err != nil {
		return &problem{at: begun, target: t, what: err.Error()}
	}
	s.backAfter = time.Since(begun)
	s.screen.say("%s was taken out by hand, and is back after %s", t, seconds(s.backAfter))
	return nil
}

// storm has everything throttle for everybody, lets the rollouts end while it
// does, and measures how soon the group is right once it is over.
func (s *soak) storm(ctx context.Context) error {
	// What the loss of the table has left unsettled is to be over when the
	// storm is, so that the recovery is from nothing else.
	if err := pause(ctx, ownership.Settle-ownership.CallBudget-s.phases.storm); err != nil {
		return err
	}
	s.screen.say("storm: table and load balancer throttle all controllers for %s", s.phases.storm)
	begun := time.Now()
	s.faults.begin(storm, storm)
	s.throttleAll(true)
	defer s.throttleAll(false)
	// What the rollouts leave undone piles up until their end, and waits.
	if err := pause(ctx, s.phases.storm*3/4); err != nil {
		return err
	}
	s.stopWorkload()
	if err := pause(ctx, s.phases.storm-time.Since(begun)); err != nil {
		return err
	}
	s.throttleAll(false)
	s.faults.end(storm)
	over := time.Now()
	if err := s.settle(ctx, "the group to become right after the storm", s.wrongGroup); err != nil {
		return err
	}
	s.recovered = time.Since(over)
	s.screen.say("the group is right %s after the storm", seconds(s.recovered))
	return nil
}

func (s *soak) throttleAll(on bool) {
	kind := ""
	if on {
		kind = throttled
	}
	for _, at := range s.sites {
		s.table.throttle(at.name, on)
		s.lb.disturb(at.name, kind, 0)
	}
}

// quiet waits until all records are as the pods are, and checks that there
// was something to look at.
func (s *soak) quiet(ctx context.Context) error {
	s.screen.say("quiet: waiting until every record is as the pods are and nothing leaves any more")
	if err := s.settle(ctx, "all records to become right", s.unsettled); err != nil {
		return err
	}
	t := s.guard.seen()
	if t.registrations == 0 || t.removals == 0 || t.moves == 0 || s.work.rollouts.Load() == 0 {
		return &problem{at: time.Now(), what: fmt.Sprintf("nothing happened that could go wrong: %+v", t)}
	}
	return nil
}
