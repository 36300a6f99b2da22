package soak

import (
	"fmt"
	"time"
)

// The bounds of a soak: below there is no room for its parts, above it nobody
// waits for the end.
const (
	MinDuration = time.Minute
	MaxDuration = 24 * time.Hour
)

// phases are the timed parts of a soak. Start and end take what they take.
type phases struct{ healthy, chaos, storm time.Duration }

func split(d time.Duration) (phases, error) {
	if d < MinDuration || d > MaxDuration {
		return phases{}, fmt.Errorf("a soak of %s: choose between %s and %s", d, MinDuration, MaxDuration)
	}
	p := phases{
		healthy: min(max(d/10, 20*time.Second), 2*time.Minute),
		storm:   min(d/5, time.Minute),
	}
	p.chaos = d - p.healthy - p.storm
	return p, nil
}

const (
	roundLength = 4 * time.Minute
	// lossLength is about what a table loss takes: one comparison period until
	// the last controller has noticed, and the budget of a call.
	lossLength = 35 * time.Second
)

// rounds divides the chaos. Each round is faults, then a loss of the table.
func rounds(chaos time.Duration) (n int, faults time.Duration) {
	n = max(1, int(chaos/roundLength))
	round := chaos / time.Duration(n)
	return n, max(round-lossLength, round/2)
}
