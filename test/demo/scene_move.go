package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"target-ownership-controller/test/elbsim"
)

// movingAddress is in subnets that both clusters take pod addresses from.
const movingAddress = "10.99.0.7"

// move gives west a pod address that east still has recorded.
func (s *stage) move(ctx context.Context) error {
	moving := target(movingAddress)
	pod, err := s.east.app.RunPodAt(ctx, movingAddress)
	if err != nil {
		return err
	}
	if err := s.untilSettled(ctx); err != nil {
		return err
	}
	s.say("A pod of east has the address %s, from a subnet that both clusters use:", movingAddress)
	if err := s.show(ctx, moving); err != nil {
		return err
	}

	begun := time.Now()
	s.say("east's controller is frozen (SIGSTOP). Meanwhile its pod is deleted, and west starts one that gets the same address:")
	if err := s.east.controller.freeze(); err != nil {
		return err
	}
	if err := s.east.app.RemovePod(ctx, pod); err != nil {
		return err
	}
	if _, err := s.west.app.RunPodAt(ctx, movingAddress); err != nil {
		return err
	}
	if err := s.untilRegisteredBy(ctx, s.west, moving, begun); err != nil {
		return err
	}
	if err := s.show(ctx, moving); err != nil {
		return err
	}
	return s.wakeAndCleanUp(ctx, moving, begun)
}

// untilRegisteredBy waits until the site's call has reached the group.
func (s *stage) untilRegisteredBy(ctx context.Context, site *site, t string, since time.Time) error {
	what := fmt.Sprintf("%s to register %s", site.name, t)
	return s.until(ctx, what, func(context.Context) (string, error) {
		for _, e := range callsFor(s.elb.Journal(), t, since) {
			if e.Caller == site.name && e.Action == "RegisterTargets" && e.Outcome == elbsim.OutcomeOK {
				return "", nil
			}
		}
		return "no such call yet", nil
	})
}

// wakeAndCleanUp lets east notice at last.
func (s *stage) wakeAndCleanUp(ctx context.Context, moving string, begun time.Time) error {
	s.say("east's controller goes on (SIGCONT), sees that its pod is gone, and cleans up. It flags the target as releasing, " +
		"looks at the records of all others, finds west's, and only lets go of its own:")
	if err := s.east.controller.resume(); err != nil {
		return err
	}
	if err := s.untilSettled(ctx); err != nil {
		return err
	}
	if err := s.show(ctx, moving); err != nil {
		return err
	}
	calls := callsFor(s.elb.Journal(), moving, begun)
	s.say("What the load balancer was told about it since east was frozen: %s. A list that each cluster keeps for itself "+
		"would have made east take out west's pod.", narrate(calls, begun))
	removals := 0
	for _, call := range calls {
		if call.Action == "DeregisterTargets" {
			removals++
		}
	}
	return s.verify(
		expect("nobody asked for "+moving+" to be taken out", unless(removals == 0, "%s", narrate(calls, begun))),
		expect(moving+" never left the group", unless(s.guard.removalsOf(moving) == 0, "it left %d times", s.guard.removalsOf(moving))),
		s.union(ctx),
		s.guard.harmless(),
	)
}

// callsFor are the changes asked for a target since then.
func callsFor(journal []elbsim.Entry, t string, since time.Time) []elbsim.Entry {
	var calls []elbsim.Entry
	for _, e := range journal {
		if e.Time.Before(since) || (e.Action != "RegisterTargets" && e.Action != "DeregisterTargets") {
			continue
		}
		for _, named := range e.Targets {
			if named == t {
				calls = append(calls, e)
			}
		}
	}
	return calls
}

func narrate(calls []elbsim.Entry, since time.Time) string {
	var parts []string
	for _, c := range calls {
		parts = append(parts, fmt.Sprintf("%s by %s after %.1fs", c.Action, c.Caller, c.Time.Sub(since).Seconds()))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
