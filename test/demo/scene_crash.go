package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// crash kills east's controller between its flags and its calls.
func (s *stage) crash(ctx context.Context) error {
	s.say("The load balancer API throttles east from now on, and all pods of east are replaced. east can write down what " +
		"it is about to do, and do none of it. In that state it is killed, without a warning:")
	s.throttle(s.east)
	if err := s.east.app.Restart(ctx); err != nil {
		return err
	}
	if err := s.untilFlagged(ctx); err != nil {
		return err
	}
	if err := s.east.controller.Kill(); err != nil {
		return err
	}
	s.east.controller = nil
	v, err := s.look(ctx)
	if err != nil {
		return err
	}
	s.screen.table(v.header(), v.rows())
	unfinished := expect("the record says what was begun: new targets held and not registered, old ones releasing and not out",
		halfWay(v, s.east.name))
	if err := s.verify(unfinished, s.guard.recorded()); err != nil {
		return err
	}
	return s.restart(ctx, v.releasing[s.east.name].sorted()[0])
}

func (s *stage) throttle(site *site) {
	for _, action := range []string{"RegisterTargets", "DeregisterTargets"} {
		s.elb.Inject(elbsim.Rule{Action: action, Caller: site.name, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	}
}

// untilFlagged waits until east's record names all new and all old targets.
func (s *stage) untilFlagged(ctx context.Context) error {
	return s.until(ctx, "east to flag its new and its old targets", func(ctx context.Context) (string, error) {
		v, err := s.look(ctx)
		if err != nil {
			return "", err
		}
		if err := halfWay(v, s.east.name); err != nil {
			return err.Error(), nil
		}
		return "", nil
	})
}

// halfWay says what is missing until the record holds exactly the new pods,
// none of them registered, and releases exactly the old, all still registered.
func halfWay(v view, site string) error {
	held, leaving, in := v.held[site], v.releasing[site], v.registered()
	if err := difference(held, v.pods[site]); err != nil {
		return fmt.Errorf("held: %w", err)
	}
	if early := len(held) - len(held.minus(in)); early > 0 {
		return fmt.Errorf("%d of the held targets are registered", early)
	}
	if len(leaving) != replicas {
		return fmt.Errorf("%d targets are releasing, not %d", len(leaving), replicas)
	}
	if gone := leaving.minus(in); len(gone) > 0 {
		return fmt.Errorf("out of the group already: %v", gone.sorted())
	}
	return nil
}

// restart starts the controller again and shows that it finishes. left is one
// of the targets that it was taking out.
func (s *stage) restart(ctx context.Context, left string) error {
	s.say("Throttling ends, and the controller is started again. It knows nothing but the record, and finishes what it says:")
	s.elb.ClearRules()
	begun := time.Now()
	if err := s.runController(s.east); err != nil {
		return err
	}
	err := s.until(ctx, "east to finish", func(ctx context.Context) (string, error) {
		v, err := s.look(ctx)
		if err != nil {
			return "", err
		}
		if err := difference(v.registered(), v.wanted()); err != nil {
			return err.Error(), nil
		}
		return "", nil
	})
	if err != nil {
		return err
	}
	s.screen.progress("%.1fs after its start the group is right again", time.Since(begun).Seconds())
	if err := s.show(ctx); err != nil {
		return err
	}
	if err := s.verify(s.union(ctx), s.guard.harmless(), s.guard.recorded()); err != nil {
		return err
	}
	return s.settle(ctx, begun, left)
}

// settle gives west an address that the dead process was taking out.
func (s *stage) settle(ctx context.Context, restarted time.Time, left string) error {
	address, _, _ := strings.Cut(left, ":")
	s.say("A call of the killed process may still be on its way. So the targets that were taken out stay in the record for the "+
		"settle time of %.0f seconds. Just now west starts a pod that gets the address %s:", ownership.Settle.Seconds(), address)
	if _, err := s.west.app.RunPodAt(ctx, address); err != nil {
		return err
	}
	if err := s.untilBlocked(ctx); err != nil {
		return err
	}
	if err := s.show(ctx, left); err != nil {
		return err
	}
	if err := s.untilForgotten(ctx, restarted); err != nil {
		return err
	}
	if err := s.untilSettled(ctx); err != nil {
		return err
	}
	if err := s.show(ctx, left); err != nil {
		return err
	}
	// Both, so that whoever puts it back, for itself or for the other, has.
	if err := s.verify(s.ready(ctx, s.east), s.ready(ctx, s.west)); err != nil {
		return err
	}
	return s.verify(
		s.union(ctx),
		expect(left+" was put in again only when no call of the killed process could take it out any more",
			waited(callsFor(s.elb.Journal(), left, restarted), restarted.Add(ownership.Settle))),
	)
}

// untilBlocked waits until west's binding says that it waits for east.
func (s *stage) untilBlocked(ctx context.Context) error {
	return s.until(ctx, "west to be blocked", func(ctx context.Context) (string, error) {
		ready, err := s.condition(ctx, s.west, v1beta1.ConditionReady)
		if err != nil || ready.Reason != string(v1beta1.ReasonBlocked) {
			return "its binding says: " + ready.Message, err
		}
		s.screen.progress("west's binding says: %s", ready.Message)
		return "", nil
	})
}

// untilForgotten waits until east drops the targets that it has taken out.
func (s *stage) untilForgotten(ctx context.Context, restarted time.Time) error {
	return s.until(ctx, "the settle time to pass", func(ctx context.Context) (string, error) {
		v, err := s.look(ctx)
		if n := len(v.releasing[s.east.name]); err == nil && n > 0 {
			left := max(0, ownership.Settle-time.Since(restarted)).Round(time.Second)
			return fmt.Sprintf("%s to go, %d targets releasing", left, n), nil
		}
		return "", err
	})
}

// waited says which call that put the target in came too early.
func waited(calls []elbsim.Entry, notBefore time.Time) error {
	registered := false
	for _, c := range calls {
		if c.Action != "RegisterTargets" {
			continue
		}
		registered = true
		if early := notBefore.Sub(c.Time); early > 0 {
			return fmt.Errorf("%s registered it %s too early", c.Caller, early.Round(time.Millisecond))
		}
	}
	return unless(registered, "nobody registered it")
}
