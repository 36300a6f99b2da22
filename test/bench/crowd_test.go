package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"target-ownership-controller/test/table"
)

// another is the manager of a cluster of its own, as the controller sees it: all
// sides are on one API server, whose kube-system tells clusters apart.
type another struct {
	manager.Manager
	cluster string
}

func (m another) GetAPIReader() client.Reader {
	return ownSystem{m.Manager.GetAPIReader(), types.UID(m.cluster)}
}

type ownSystem struct {
	client.Reader
	uid types.UID
}

func (r ownSystem) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, o, opts...)
	if namespace, ok := o.(*corev1.Namespace); ok && key.Name == "kube-system" {
		namespace.UID = r.uid
	}
	return err
}

// crowded is how many targets each cluster of BenchmarkCrowd has.
const crowded = 40

// BenchmarkCrowd has controllers of up to 25 clusters share one group, which then
// has 1,000 targets, and one table. Two changes are measured: one target of one
// cluster while the others rest, and all targets of all clusters at once.
func BenchmarkCrowd(b *testing.B) {
	for _, clusters := range []int{1, 5, 25} {
		b.Run(fmt.Sprintf("clusters=%d", clusters), func(b *testing.B) {
			w := prepare(b)
			group, t := w.createGroup(b, "crowded"), table.Start(b)
			w.setQuota(b, group, 2*crowded*clusters) // a full group is another matter
			var sides crowd
			for i := range clusters {
				name := fmt.Sprintf("cluster-%02d", i)
				s := w.sideOf(b, name, name, group)
				s.used = 2 * crowded * 1000 * i
				s.controlWith(b, t)
				sides = append(sides, s)
			}
			sides.replace(b, crowded, sides...)
			for b.Loop() {
				var alone, together []sample
				for i := range *rounds {
					alone = append(alone, sides.replace(b, 1, sides[i%clusters])...)
				}
				for range *rounds {
					together = append(together, sides.replace(b, crowded, sides...)...)
				}
				reportChange(b, "one-alone", alone)
				reportChange(b, "all-together", together)
			}
		})
	}
}

// crowd are sides that share a group.
type crowd []*side

// replace gives the Services of some sides k new addresses each, at once.
func (c crowd) replace(b *testing.B, k int, of ...*side) []sample {
	b.Helper()
	before, begun := map[*side][]string{}, map[*side]time.Time{}
	for _, s := range of {
		before[s] = s.renew(crowded, k)
		s.forgetEvents()
		s.clear()
	}
	for _, s := range of {
		begun[s] = time.Now()
		s.write(b, before[s])
	}
	c.atRest(b)
	samples := make([]sample, len(of))
	for i, s := range of {
		calls, _ := s.since()
		samples[i] = s.measure(begun[s], calls)
	}
	return samples
}

// atRest waits until the group has the targets of all and no others, and nobody
// has called anything for a while.
func (c crowd) atRest(b *testing.B) {
	b.Helper()
	var want []string
	for _, s := range c {
		want = append(want, s.targets()...)
	}
	slices.Sort(want)
	c[0].until(b, want, func() bool {
		return !slices.ContainsFunc(c, func(s *side) bool { _, quiet := s.since(); return quiet <= atEase })
	})
}

// reportChange has the times, and the calls of one cluster for one change.
func reportChange(b *testing.B, change string, samples []sample) {
	b.Helper()
	var registered []time.Duration
	calls := map[string]int{}
	for _, s := range samples {
		registered = append(registered, s.registered)
		for kind, n := range s.calls {
			calls[kind] += n
		}
	}
	spread := spreadOf(registered)
	b.ReportMetric(spread.Median, "ms-registered-median/"+change)
	b.ReportMetric(spread.P95, "ms-registered-p95/"+change)
	for _, kind := range []string{"RegisterTargets", "DeregisterTargets", "DescribeTargetHealth", "Query", "PutItem"} {
		b.ReportMetric(float64(calls[kind])/float64(len(samples)), kind+"/"+change)
	}
}
