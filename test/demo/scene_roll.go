package demo

import "context"

// roll replaces all pods of both clusters at the same time.
func (s *stage) roll(ctx context.Context) error {
	s.say("`kubectl rollout restart` in both clusters: all pods are replaced, with new addresses, while each " +
		"controller adds and removes in the same group. Every change of the group is looked at as it happens.")
	before, err := s.look(ctx)
	if err != nil {
		return err
	}
	s.guard.watch()
	counted, _ := s.guard.seen()
	if err := s.inBoth(func(site *site) error { return site.app.Restart(ctx) }); err != nil {
		return err
	}
	s.screen.progress("all pods are replaced")
	if err := s.untilSettled(ctx); err != nil {
		return err
	}
	if err := s.show(ctx); err != nil {
		return err
	}
	after, fewest := s.guard.seen()
	v, err := s.look(ctx)
	if err != nil {
		return err
	}
	replaced := before.registered().minus(v.registered())
	s.screen.note("%d calls changed the group: %d targets registered, %d taken out",
		after.changes-counted.changes, after.registrations-counted.registrations, after.removals-counted.removals)
	return s.verify(
		s.union(ctx),
		expect("all targets of both clusters were replaced",
			unless(len(replaced) == 2*replicas, "%d of %d", len(replaced), 2*replicas)),
		expect("the group never had fewer targets than before",
			unless(fewest >= len(before.health), "%d at one time, %d before", fewest, len(before.health))),
		s.guard.harmless(),
		s.guard.recorded(),
	)
}
