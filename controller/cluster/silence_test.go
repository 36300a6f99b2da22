package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

// Field case 29: an operator evicts a cluster that is silent. When it comes
// back, as the same process or as a new one, it stays out until the operator
// takes it in again.
func TestAnEvictedClusterDoesNotComeBackByItself(t *testing.T) {
	for name, restarted := range map[string]bool{"the process was cut off": false, "a new process": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				g := NewWithT(t)
				table := memory.New()
				c := config("uid-a", table)
				gate := beating(t, c)
				g.Expect(gate.Check()).To(Succeed())
				watcher := cluster.NewPeers(table, "green")

				table.Intercept(onlyFor(memory.Clusters)) // blue is cut off, the watcher is not
				start(t, watcher)
				pass(time.Hour)
				g.Expect(watcher.Seen()["blue"].Silent).To(BeNumerically(">=", 59*time.Minute))
				g.Expect(gate.Check()).To(BeAssignableToTypeOf(&cluster.NotClaimedError{}))
				operate(t, table, ownership.ClusterRetired)
				evicted := entry(t, table) // and blue is connected again
				if restarted {
					c.Gate = cluster.NewGate()
					gate = beating(t, c)
				}
				pass(time.Hour)
				g.Expect(gate.Check()).To(MatchError(&cluster.RetiredError{ID: "blue"}))
				g.Expect(entry(t, table)).To(Equal(evicted), "it claims nothing")

				operate(t, table, ownership.ClusterActive)
				pass(30 * time.Second)
				g.Expect(gate.Check()).To(Succeed())
				synctest.Wait()
				g.Expect(watcher.Seen()["blue"].Silent).To(BeNumerically("<", time.Minute))
			})
		})
	}
}

// onlyFor lets calls of one kind through.
func onlyFor(kind memory.Kind) func(memory.Op) memory.Fault {
	return func(op memory.Op) memory.Fault {
		if op.Kind == kind {
			return memory.Fault{}
		}
		return memory.Refuse(ownership.ErrUnavailable)
	}
}
