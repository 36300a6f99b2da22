package binding

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

const (
	rolled = 8
	// mayBeAway are the replicas that a rolling update has away at once by
	// default, a quarter of them
	// (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment).
	mayBeAway = rolled / 4
)

// clockRuns lets time pass in the simulator as it does here.
func (w *world) clockRuns() {
	const tick = 10 * time.Millisecond
	ticker := time.NewTicker(tick)
	w.t.Cleanup(ticker.Stop)
	ended := make(chan struct{})
	w.t.Cleanup(func() { <-ended })
	go func() {
		defer close(ended)
		for {
			select {
			case <-w.t.Context().Done():
				return
			case <-ticker.C:
				w.passes(tick)
			}
		}
	}()
}

// leastHealthy is the smallest number of healthy targets that a change of the
// group left.
func (w *world) leastHealthy() *atomic.Int64 {
	least := &atomic.Int64{}
	least.Store(rolled)
	w.t.Cleanup(w.sim.Observe(func(m elbsim.Mutation) {
		healthy := int64(0)
		for _, t := range m.Targets {
			if t.Health.State == types.TargetHealthStateEnumHealthy {
				healthy++
			}
		}
		least.Store(min(least.Load(), healthy))
	}))
	return least
}

// The Pods of a Deployment that rolls get their gates from the webhook, so that
// the old ones stay until the load balancer reaches the new ones. The targets are
// healthy long after the containers are ready.
func TestARolloutWaitsForTheLoadBalancer(t *testing.T) {
	w := newWorld(t)
	w.sim.Configure(func(s *elbsim.Settings) { s.InitialFor = 2 * time.Second })
	w.clockRuns()
	api := kube.ForTest(t, kube.Options{Name: "rollout", CRDPaths: []string{crds}, Scheme: newScheme(), Full: true, PodCIDR: "10.72.0.0/16"})
	east := w.clusterIn(api, "east")
	east.hooks().serves()
	web, err := api.Deploy(t.Context(), east.namespace, "web", 0)
	w.Expect(err).NotTo(HaveOccurred())
	east.binds("web")
	east.eventuallyReady("web", "Reconciled")

	w.Expect(web.Scale(t.Context(), rolled)).To(Succeed())
	w.Expect(w.sim.Registered(w.group.ARN)).To(HaveLen(rolled))
	least := w.leastHealthy()
	w.Expect(web.Restart(t.Context())).To(Succeed())
	replaced, err := web.Addresses(t.Context()) // the old ones may be among them, of new Pods
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(replaced).To(HaveLen(rolled))
	w.eventuallyGroup(at8080(replaced...)...)
	w.Expect(least.Load()).To(BeNumerically(">=", rolled-mayBeAway))
}
