package endpoints

import (
	"slices"

	"target-ownership-controller/ownership"
)

// keep has targets stay that would leave because they are not ready, as many
// as the minimum needs beyond those that are ready. All of the spare ones are
// held. The first in order stay: when one of them gets ready or goes, no other
// one changes places with those that left, which are held no more.
func (w *Want) keep(minimum func(there int) int, there, ready int, spare []ownership.Target) {
	if minimum == nil {
		return
	}
	slices.Sort(spare)
	spare = slices.DeleteFunc(slices.Compact(spare), func(t ownership.Target) bool { return w.Targets[t] })
	missing := max(0, min(minimum(there)-ready, len(spare)))
	for _, t := range spare[:missing] {
		w.Targets[t] = true
		w.Kept = append(w.Kept, t)
	}
}
