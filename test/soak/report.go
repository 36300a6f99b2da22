package soak

import (
	"fmt"
	"strconv"
	"time"
)

// tell says in one line how things are.
func (s *soak) tell() {
	t := s.guard.seen()
	line := fmt.Sprintf("%d targets, %d registered, %d taken out, %d moves, %d rollouts",
		len(s.lb.registered()), t.registrations, t.removals, t.moves, s.work.rollouts.Load())
	if now := s.faults.goingOn(); now != "" && !s.screen.detailed {
		line += "; now " + now
	}
	s.screen.say("%s", line)
}

// report is the table at the end.
func (s *soak) report() {
	t := s.guard.seen()
	row := func(name, format string, args ...any) [2]string { return [2]string{name, fmt.Sprintf(format, args...)} }
	rows := [][2]string{
		row("duration", "%s, seed %d, %s in all", s.options.Duration, s.options.Seed, s.screen.elapsed()),
		row("rollouts", "%d", s.work.rollouts.Load()),
		row("addresses moved", "%d, registered by another cluster than before %d times", s.work.moves.Load(), t.moves),
		row("registrations", "%d targets", t.registrations),
		row("removals", "%d targets", t.removals),
	}
	rows = append(rows, s.faultRows()...)
	_, own, _ := s.guard.outside(ours)
	rows = append(rows,
		row("targets lost", "%d", t.lost+s.lost),
		row("foreign removals", "%d", t.foreign),
		row("leaks", "%d", t.leaks+s.leaks),
		row("targets of nobody touched", "%d", t.touched),
		row("ready pods outside because of us", "%s", seconds(own)),
	)
	rows = append(rows,
		row("removals that are allowed", "%d wrong while the table was lost, %d frozen between check and call", t.whileTableLost, t.excused))
	rows = append(rows, s.outsideRows()...)
	longest, long := s.guard.waited()
	rows = append(rows,
		row("ready pods waiting to enter", "%s at most in healthy time, %s later, %d longer than %s",
			seconds(s.waited), seconds(longest), long, longWait),
		row("back after removal by hand, in healthy time", "%s, allowed are %s", measured(s.backAfter), seconds(repairWithin)),
		row("recovery after the storm", "%s, of %s", measured(s.recovered), s.phases.storm),
		row("log lines in healthy time", "%d for %d targets registered or taken out", s.logLines, s.logTargets),
	)
	s.screen.table(rows)
}

func (s *soak) faultRows() [][2]string {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	var rows [][2]string
	for _, kind := range []string{killed, frozen, cutOff, blackHole, slow, reset, throttled, late, byHand, tableLost, storm} {
		rows = append(rows, [2]string{"faults: " + kind, strconv.Itoa(s.faults.counts[kind])})
	}
	return rows
}

// outsideRows are the outages that are nobody's fault, or not the protocol's.
func (s *soak) outsideRows() [][2]string {
	var rows [][2]string
	for _, why := range []cause{handWork, lostTable, frozenCall} {
		if n, total, longest := s.guard.outside(why); n > 0 {
			rows = append(rows, [2]string{
				"ready pods outside, " + string(why),
				fmt.Sprintf("%d, %s in all, %s at most", n, seconds(total), seconds(longest.Round(time.Millisecond))),
			})
		}
	}
	return rows
}

// measured is for what a soak may not have come to.
func measured(d time.Duration) string {
	if d == 0 {
		return "not measured"
	}
	return seconds(d)
}
