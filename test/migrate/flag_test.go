package migrate_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
)

// The flag is switched on and off while the pods roll: what a binding has
// recorded it goes on with, in either mode.
func TestTheFlagOnAndOff(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	const wests = "10.8.8.8:8080"
	w.west(wests)
	w.has(w.binding())
	r := w.rolls(wests)
	w.ours(kind.TargetGroupBinding)
	w.Eventually(w.registered).Should(HaveLen(replicas + 1))

	tick := time.NewTicker(700 * time.Millisecond) // out of step with the pods
	defer tick.Stop()
	for range 30 { // an even number: shared again at the end
		<-tick.C
		b := w.object(name).(*v1beta1.TargetGroupBinding)
		before := b.DeepCopy()
		b.Spec.MultiClusterTargetGroup = !b.Spec.MultiClusterTargetGroup
		w.Expect(w.api.Client.Patch(t.Context(), b, client.MergeFrom(before))).To(Succeed())
	}
	r.expectNothingLost(t)
	w.Eventually(w.registered).Should(ConsistOf(r.wanted()), "no target is left behind")
	w.Eventually(func() int { return len(w.held(name)) }).Should(Equal(replicas))
}
