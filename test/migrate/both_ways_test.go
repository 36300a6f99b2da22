package migrate_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	shared "target-ownership-controller/controller/api/shared/v1beta1"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/peer"
)

// LBC stays, and a binding moves to the kind that it does not know and back,
// while the pods roll.
func TestBesideAndBack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: calls that may be under way are waited for")
	}
	w := newWorld(t)
	t.Parallel()
	others := []string{"10.9.9.9:8080", "10.8.8.8:8080"}
	w.registers(types.TargetHealthStateEnumHealthy, others[0])
	w.west(others[1])
	stopLBC := w.lbc()
	w.has(w.binding())
	r := w.rolls(others...)
	w.Eventually(w.registered).Should(HaveLen(replicas + len(others)))
	w.ours(kind.SharedTargetGroupBinding)
	w.Eventually(w.clusters).Should(ConsistOf(east))

	w.migrates("lbc")
	w.Expect(w.gone(&v1beta1.TargetGroupBinding{}, name)).To(BeTrue())
	w.Expect(w.gone(&shared.SharedTargetGroupBinding{}, name)).To(BeFalse())
	w.Expect(w.gone(&corev1.ConfigMap{}, peer.ListPrefix+name)).To(BeTrue())

	// LBC remembers its list of before, which nobody can tell it.
	code, out, _ := w.targetctl("back-to-lbc", "--yes")
	w.Expect(code).To(Equal(1))
	w.Expect(out).To(ContainSubstring("LBC remembers an old list"))
	stopLBC()
	w.lbc()

	w.Eventually(func() string { _, out, _ := w.targetctl("back-to-lbc", "--dry-run"); return out }).ShouldNot(ContainSubstring("LBC remembers"))
	w.migrates("back-to-lbc")
	w.Expect(w.gone(&v1beta1.TargetGroupBinding{}, name)).To(BeFalse())
	w.Expect(w.gone(&shared.SharedTargetGroupBinding{}, name)).To(BeTrue())
	w.Expect(w.owners()).To(ConsistOf("west/shop/web"))

	r.expectNothingLost(t)
	w.Eventually(w.registered).Should(ConsistOf(r.wanted()), "what LBC makes of it at the end")
}

// LBC is replaced and comes back.
func TestInsteadAndBack(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: calls that may be under way are waited for")
	}
	w := newWorld(t)
	t.Parallel()
	others := []string{"10.9.9.9:8080", "10.8.8.8:8080"}
	w.registers(types.TargetHealthStateEnumHealthy, others[0])
	w.west(others[1])
	stopLBC := w.lbc()
	w.has(w.binding())
	alone := w.alone()
	r := w.rolls(others...)
	w.Eventually(w.registered).Should(HaveLen(replicas + len(others)))
	w.ours(kind.All...)
	w.Eventually(w.clusters).Should(ConsistOf(east))

	moved := make(chan string)
	go func() { moved <- w.migrates("lbc", "--to", "TargetGroupBinding") }()
	w.Eventually(func() int { return len(w.held("stgb:" + name)) }).Should(BeNumerically(">=", replicas))
	stopLBC()
	<-moved
	b := &v1beta1.TargetGroupBinding{}
	w.Expect(w.api.Client.Get(t.Context(), key, b)).To(Succeed())
	w.Expect(b.Finalizers).To(ConsistOf(v1beta1.Finalizer))
	w.Expect(w.gone(&shared.SharedTargetGroupBinding{}, name)).To(BeTrue())
	w.Expect(w.gone(&corev1.ConfigMap{}, peer.ListPrefix+name)).To(BeTrue())
	w.Expect(w.owners()).To(ConsistOf("west/shop/web", "east/shop/web"))
	alone(v1beta1.Finalizer)

	w.lbc()
	w.migrates("back-to-lbc", "--from", "TargetGroupBinding")
	w.Expect(w.api.Client.Get(t.Context(), key, b)).To(Succeed())
	w.Expect(b.Finalizers).To(ConsistOf(peer.Finalizer))
	w.Expect(w.owners()).To(ConsistOf("west/shop/web"))
	alone(peer.Finalizer)

	r.expectNothingLost(t)
	w.Eventually(w.registered).Should(ConsistOf(r.wanted()), "what LBC makes of it at the end")
}

// alone adds a binding that has its group for itself, and returns a check that
// it is whose finalizer it has, and that nothing ever left the group.
func (w *world) alone() (expect func(finalizer string)) {
	w.t.Helper()
	const name = "api"
	group, err := w.sim.CreateGroup(elbsim.Group{Name: "green", Protocol: "HTTP", Port: 80, VPCID: w.group.VPCID, TargetType: "ip"})
	w.Expect(err).NotTo(HaveOccurred())
	w.has(w.service(name), w.binding(called(name), func(b *v1beta1.TargetGroupBinding) {
		b.Spec.TargetGroupARN, b.Spec.ServiceRef.Name, b.Spec.MultiClusterTargetGroup = group.ARN, name, false
	}))
	w.Expect(w.api.SetEndpoints(w.t.Context(), namespace, name, "10.7.0.1", "10.7.0.2")).To(Succeed())
	w.Eventually(func() []string { return w.sim.Registered(group.ARN) }).Should(ConsistOf(at("10.7.0.1", "10.7.0.2")))
	return func(finalizer string) {
		w.t.Helper()
		w.Expect(w.object(name).GetFinalizers()).To(ConsistOf(finalizer))
		w.Expect(w.gone(&shared.SharedTargetGroupBinding{}, name)).To(BeTrue())
		w.Expect(w.sim.Registered(group.ARN)).To(ConsistOf(at("10.7.0.1", "10.7.0.2")))
		for _, entry := range w.sim.Journal() {
			w.Expect(entry.Action == "DeregisterTargets" && entry.Group == group.ARN).To(BeFalse())
		}
	}
}

// clusters are those in the registry.
func (w *world) clusters() []string {
	read, err := w.store.Clusters(w.t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	var ids []string
	for _, c := range read.Clusters {
		ids = append(ids, c.ID)
	}
	return ids
}
