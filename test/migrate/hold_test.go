package migrate_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/cmd/targetctl/migrate"
	shared "target-ownership-controller/controller/api/shared/v1beta1"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
)

// beforeHold does something before a SharedTargetGroupBinding is put on hold.
type beforeHold struct {
	client.Client
	do func()
}

func (b beforeHold) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if _, is := o.(*shared.SharedTargetGroupBinding); is && o.GetAnnotations()[v1beta1.DeletionPolicyAnnotation] == "OnHold" {
		b.do()
	}
	return b.Client.Patch(ctx, o, patch, opts...)
}

// A pod that comes at the last moment is held when the binding is put on hold,
// and was not when LBC took over: it is LBC's as well.
func TestAPodThatComesBeforeTheHold(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	w.runs("10.0.0.1")
	w.ours(kind.SharedTargetGroupBinding)
	w.Eventually(w.clusters).Should(ConsistOf(east))
	w.has(&shared.SharedTargetGroupBinding{ObjectMeta: w.binding().ObjectMeta, Spec: w.binding().Spec})
	w.Eventually(w.registered).Should(ConsistOf(at("10.0.0.1")))
	w.lbc()
	w.Expect(back(t.Context(), w.migration(kind.SharedTargetGroupBinding, func(m *migrate.Migration) {
		m.Cluster = beforeHold{m.Cluster, func() {
			w.runs("10.0.0.1", "10.0.0.2") // a conflict has the patch made again
			w.Eventually(func() int { return len(w.held("stgb:" + name)) }).Should(Equal(2))
		}}
	}))).To(Succeed())
	w.Expect(w.registered()).To(ConsistOf(at("10.0.0.1", "10.0.0.2")))
	for _, entry := range w.sim.Journal() {
		w.Expect(entry.Action).NotTo(Equal("DeregisterTargets"), "by %s: %v", entry.Caller, entry.Targets)
	}
	w.Expect(w.owners()).To(BeEmpty())
}
