package cli

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/memory"
)

func TestRetire(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		alive bool
		code  int
		state ownership.ClusterState
		group []ownership.Target
		says  string
	}{
		"silent": {
			line: "cluster retire west --yes", code: exitOK, state: ownership.ClusterRetired,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "2 healthy targets stay: --force",
		},
		"alive": {
			line: "cluster retire west --yes", alive: true, code: exitFailure, state: ownership.ClusterActive,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "the controller of the cluster is running",
		},
		"forced": {
			line: "cluster retire west --yes --force", code: exitOK, state: ownership.ClusterRetired,
			group: []ownership.Target{"10.0.0.1:80", "10.9.9.9:80"}, says: "\ncluster west is Retired\nblue: west/shop/web",
		},
		"alive, and forced": {
			line: "cluster retire west --yes --force", alive: true, code: exitFailure, state: ownership.ClusterActive,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "the controller of the cluster is running",
		},
		"dry run": {
			line: "cluster retire west --dry-run", code: exitOK, state: ownership.ClusterActive,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "The cluster becomes Retired.\n  blue: 3 targets\n",
		},
		"release": {
			line: "release --cluster west --group blue --yes", code: exitOK, state: ownership.ClusterActive,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "2 healthy targets stay",
		},
		"release of nobody": {
			line: "release --cluster wst --yes", code: exitFailure, state: ownership.ClusterActive,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "not found",
		},
		"release of what": {
			line: "release --yes", code: exitUsage, state: ownership.ClusterActive,
			group: []ownership.Target{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.5:80", "10.9.9.9:80"}, says: "--cluster is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.health["10.0.0.5:80"] = "healthy"
				b.hold(t, "west", "10.0.0.5:80")
				if c.alive {
					go func() {
						time.Sleep(4 * time.Minute)
						b.table.EditCluster("west", func(c *ownership.Cluster) { c.HeartbeatSeq++ })
					}()
				}
				code, _, errs := b.run(strings.Fields(c.line)...)
				b.Expect(code).To(Equal(c.code), errs)
				b.Expect(errs).To(ContainSubstring(c.says))
				b.Expect(b.state(t, "west")).To(Equal(c.state))
				b.Expect(b.health).To(HaveLen(len(c.group)))
				for _, target := range c.group {
					b.Expect(b.health).To(HaveKey(target))
				}
			})
		})
	}
}

// hold adds a target to what a cluster holds.
func (b *bench) hold(t *testing.T, cluster string, target ownership.Target) {
	read, err := b.table.Records(t.Context(), arn)
	b.Expect(err).NotTo(HaveOccurred())
	for _, r := range read.Records {
		if r.Owner.Cluster == cluster {
			seen := r.Revision
			r.Held[target] = now
			r.Revision = ownership.Revision{Version: seen.Version + 1, WriteID: seen.WriteID + "+"}
			b.Expect(b.table.Put(t.Context(), r, seen)).To(Succeed())
		}
	}
}

// Whoever asks later who took the targets out is told that it was targetctl,
// for the cluster. A history that cannot be written holds nothing up.
func TestRetireIsInTheHistory(t *testing.T) {
	for name, fault := range map[string]error{"written": nil, "refused": ownership.ErrForbidden} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if fault != nil {
					b.table.Intercept(func(op memory.Op) memory.Fault {
						if op.Kind == memory.AddHistory {
							return memory.Refuse(fault)
						}
						return memory.Fault{}
					})
				}
				code, _, errs := b.run("cluster", "retire", "west", "--yes", "--force")
				b.Expect(code).To(Equal(exitOK), errs)
				b.table.Intercept(nil)
				out := map[history.What]bool{}
				for e, err := range b.table.History(t.Context(), history.Query{Group: arn}) {
					b.Expect(err).NotTo(HaveOccurred())
					b.Expect([]string{e.By, e.Cluster, e.Binding}).To(Equal([]string{"targetctl", "west", "shop/web"}))
					b.Expect(e.Expires).To(Equal(e.Time.Add(7 * 24 * time.Hour)))
					for _, event := range e.Events {
						out[event.What] = true
					}
				}
				if fault != nil {
					b.Expect(out).To(BeEmpty())
					b.Expect(errs).To(ContainSubstring("the history will lack this"))
					return
				}
				b.Expect(out).To(And(HaveKey(history.Releasing), HaveKey(history.Deregistered)))
			})
		})
	}
}

// Each target is found in the history, however many leave at once.
func TestRetireOfManyTargetsIsInTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		const many = 350
		for i := range many {
			target := ownership.Target(fmt.Sprintf("10.1.%d.%d:80", i/250, i%250))
			b.health[target] = "unhealthy"
			b.hold(t, "west", target)
		}
		code, _, errs := b.run("cluster", "retire", "west", "--yes")
		b.Expect(code).To(Equal(exitOK), errs)
		out := map[ownership.Target]bool{}
		for e, err := range b.table.History(t.Context(), history.Query{Group: arn}) {
			b.Expect(err).NotTo(HaveOccurred())
			for _, event := range e.Events {
				for _, target := range event.Targets {
					if event.What == history.Deregistered {
						out[target] = true
					}
				}
			}
		}
		b.Expect(out).To(HaveLen(many + 1)) // and the one that west was releasing
	})
}

// What would leave is told for the group that was asked for alone, and what
// cannot be read is no silence.
func TestWhatAReleaseWouldDo(t *testing.T) {
	b := newBench(t)
	const red ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/red/0123456789abcdef"
	west := ownership.Owner{Cluster: "west", Namespace: "shop", Name: "web"}
	b.Expect(b.table.Put(t.Context(), ownership.Record{
		Group: red, Owner: west, BindingUID: "uid", Revision: ownership.Revision{Version: 1, WriteID: "w"},
		Held: map[ownership.Target]time.Time{"10.0.0.8:80": now},
	}.Clone(), ownership.Revision{})).To(Succeed())
	_, _, errs := b.run("release", "--cluster", "west", "--dry-run")
	b.Expect(errs).To(HaveSuffix("holds them.\n  blue: 2 targets\n  red: 1 target\n"))
	_, _, errs = b.run("release", "--cluster", "west", "--group", string(red), "--dry-run")
	b.Expect(errs).To(HaveSuffix("holds them.\n  red: 1 target\n"))
	b.table.Break(ownership.Key{Group: arn, Owner: west}, "no mode")
	_, _, errs = b.run("release", "--cluster", "west", "--dry-run")
	b.Expect(errs).To(HaveSuffix("holds them.\n  red: 1 target\nwarning: west/shop/web in blue cannot be read: no mode\n"))
}
