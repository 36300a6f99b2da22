package plan

import (
	"fmt"
	"slices"
	"testing"

	"target-ownership-controller/ownership"
)

// BenchmarkMake plans for 1,000 targets: none to change, and all to replace.
func BenchmarkMake(b *testing.B) {
	const targets = 1000
	registered := make([]ownership.State, targets)
	stay, replaced := ownership.Set{}, ownership.Set{}
	for i := range registered {
		t := ownership.Target(fmt.Sprintf("10.0.%d.%d:8080", i/250, i%250))
		registered[i] = ownership.State{Target: t, Entry: ownership.Held, Presence: ownership.Registered}
		stay[t] = true
	}
	changing := slices.Clone(registered)
	for i := range registered {
		t := ownership.Target(fmt.Sprintf("10.1.%d.%d:8080", i/250, i%250))
		changing = append(changing, ownership.State{Target: t})
		replaced[t] = true
	}
	for _, c := range []struct {
		name   string
		want   ownership.Set
		states []ownership.State
	}{{"at-rest", stay, registered}, {"all-replaced", replaced, changing}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Make(Binding{Want: c.want}, slices.Values(c.states))
			}
		})
	}
}
