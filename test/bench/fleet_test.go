package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/plan"
	"target-ownership-controller/ownership/simulation"
)

// fleet is clusters that share groups through one table, without Kubernetes
// and without AWS: the protocol alone, with its clock.
type fleet struct {
	b      *testing.B
	clock  *simulation.Clock
	used   usage
	groups []*sharedGroup
	owners []*member
	writes int // IDs
}

// sharedGroup has the rows of its group for a table: no pass reads others.
type sharedGroup struct {
	*simulation.Group
	table *metered
}

// member is a binding of one cluster in one group.
type member struct {
	fleet  *fleet
	group  *sharedGroup
	ledger *ownership.Ledger
	owner  ownership.Owner
	first  int // of its targets
	size   int
}

func newFleet(b *testing.B) *fleet {
	return &fleet{b: b, clock: simulation.NewClock()}
}

func (f *fleet) addGroup() (number int) {
	f.groups = append(f.groups, &sharedGroup{simulation.NewGroup(f.clock), &metered{Table: memory.New(), b: f.b, used: &f.used}})
	return len(f.groups) - 1
}

func (f *fleet) join(cluster, group, targets int) *member {
	m := &member{
		fleet: f, group: f.groups[group], size: targets, first: len(f.owners) * 2 * targets,
		owner: ownership.Owner{Cluster: fmt.Sprintf("cluster-%03d", cluster), Namespace: namespace, Name: service},
	}
	m.restart(ownership.GroupARN(fmt.Sprintf("arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/group-%04d/0123456789abcdef", group)))
	f.owners = append(f.owners, m)
	return m
}

// restart makes a new process, which knows nothing.
func (m *member) restart(group ownership.GroupARN) {
	f := m.fleet
	m.ledger = ownership.NewLedger(m.group.table, ownership.Identity{Group: group, Owner: m.owner, BindingUID: "8a5c9b52-6d7e-4a53-9c8f-3f0f6f2d1a10"},
		ownership.Env{Now: f.clock.Now, NewID: func() string { f.writes++; return fmt.Sprintf("%036d", f.writes) }})
}

// pass makes one, after a comparison with the group if told so, and tells what
// the table counted.
func (m *member) pass(compare bool) usage {
	f := m.fleet
	before := f.used
	m.ledger.Begin(f.clock.Now())
	if compare {
		if err := m.ledger.Look(context.Background()); err != nil {
			f.b.Fatal(err)
		}
		m.ledger.Listed(m.group.Listing())
	}
	want := make(ownership.Set, m.size)
	for i := range m.size {
		want[ownership.Target(address(m.first+i)+":8080")] = true
	}
	p := pass.Pass{
		Ledger: m.ledger, Now: f.clock.Now, Binding: plan.Binding{Want: want},
		Group: simulation.Client{Group: m.group.Group, Owner: m.owner},
	}
	if err := p.Run(context.Background()); err != nil {
		f.b.Fatal(err)
	}
	if held := p.Report.Plan.Count(plan.Keep); held != m.size {
		f.b.Fatalf("%s has %d of %d targets in the group", m.owner, held, m.size)
	}
	f.clock.Advance(time.Second)
	m.group.Calls = nil
	return f.used.minus(before)
}

// roll replaces some targets.
func (m *member) roll(targets int) usage {
	m.first += targets
	return m.pass(false)
}

// BenchmarkNeighbours adds clusters to a group in which one has 40 targets,
// and replaces one of those: what each neighbour costs it.
func BenchmarkNeighbours(b *testing.B) {
	for _, clusters := range []int{1, 5, 25, 100} {
		b.Run(fmt.Sprintf("clusters=%d", clusters), func(b *testing.B) {
			f := newFleet(b)
			f.addGroup()
			for c := range clusters {
				f.join(c, 0, 40).pass(false)
			}
			b.ReportAllocs()
			var used usage
			for b.Loop() {
				used = f.owners[0].roll(1)
			}
			report := func(n int, unit string) { b.ReportMetric(float64(n), unit) }
			report(used.Writes, "table-writes/op")
			report(used.Reads, "table-queries/op")
			report(used.BytesRead, "bytes-read/op")
			report(used.WriteUnits, "write-units/op")
			report(used.ReadUnits, "read-units/op")
		})
	}
}

// What BenchmarkFleet assumes of a month of 30 days.
const (
	fleetClusters    = 100
	clustersPerGroup = 5
	fleetTargets     = 20 // of each binding
	rollsPerMonth    = 10 * 30
	comparesPerMonth = 12 * 24 * 30 // every 5 minutes
	beatsPerMonth    = 6 * 60 * 24 * 30
	watchesPerMonth  = 2 * 60 * 24 * 30
	entryBytes       = 330 // of a cluster in the registry

	// USD of a million units on demand, us-east-1, July 2025.
	writePrice, readPrice = 0.625, 0.125
)

// BenchmarkFleet has 100 clusters share groups by fives, and counts what one
// start, one comparison and one roll of everything take. The cost of a month
// is arithmetic with those.
func BenchmarkFleet(b *testing.B) {
	for _, groups := range []int{200, 600, 2000} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			for b.Loop() {
				f := newFleet(b)
				for g := range groups {
					f.addGroup()
					for i := range clustersPerGroup {
						f.join((g+i*fleetClusters/clustersPerGroup)%fleetClusters, g, fleetTargets)
					}
				}
				begin := f.all(func(m *member) usage { return m.pass(false) })
				compare := f.all(func(m *member) usage { return m.pass(true) })
				roll := f.all(func(m *member) usage { return m.roll(fleetTargets) })
				b.ReportMetric(float64(begin.WriteUnits), "start-write-units")
				b.ReportMetric(float64(begin.ReadUnits), "start-read-units")
				b.ReportMetric(float64(compare.ReadUnits), "compare-read-units")
				b.ReportMetric(float64(roll.WriteUnits), "roll-write-units")
				b.ReportMetric(float64(roll.ReadUnits), "roll-read-units")
				b.ReportMetric(monthly(compare, roll), "USD-a-month")
			}
		})
	}
}

func (f *fleet) all(do func(*member) usage) usage {
	before := f.used
	for _, m := range f.owners {
		do(m)
	}
	return f.used.minus(before)
}

func monthly(compare, roll usage) float64 {
	registry := units(fleetClusters*entryBytes, readUnit)
	writes := float64(roll.WriteUnits)*rollsPerMonth + fleetClusters*beatsPerMonth
	reads := float64(compare.ReadUnits)*comparesPerMonth + float64(roll.ReadUnits)*rollsPerMonth + float64(fleetClusters*watchesPerMonth*registry)
	return (writes*writePrice + reads*readPrice) / 1e6
}
