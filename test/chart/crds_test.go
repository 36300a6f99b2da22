package chart

import (
	"testing"

	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/action"
	helmkube "helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/test/kube"
)

// Nobody deletes all bindings of a cluster by taking the CRDs out of the
// release: an upgrade that would is refused until Helm keeps them.
func TestAnUpgradeDoesNotDeleteTheCRDs(t *testing.T) {
	s := &site{WithT: NewWithT(t), t: t}
	s.cluster = kube.ForTest(t, kube.Options{Name: "east", Scheme: scheme(t)})
	s.helm = helmOf(t, s.cluster)
	v := least()
	v["crds"] = values{"keep": false, "deleteBindings": true}
	s.Expect(s.install(v)).To(Succeed())

	for _, crds := range []values{{"install": false}, {"install": false, "keep": false, "deleteBindings": true}} {
		v["crds"] = crds
		_, err := s.upgrade(v)
		s.Expect(err).To(MatchError(And(
			ContainSubstring("crds.install: this upgrade would delete the CRD targetgroupbindings.elbv2.k8s.aws"),
			ContainSubstring("crds.install: this upgrade would delete the CRD sharedtargetgroupbindings.ownership.elbv2.k8s.aws"),
		)))
	}
	v["crds"] = values{"keep": true}
	s.Expect(s.upgrade(v)).Error().NotTo(HaveOccurred())
	was := s.crd().UID
	v["crds"] = values{"install": false}
	s.Expect(s.upgrade(v)).Error().NotTo(HaveOccurred())
	s.Expect(s.crd()).To(HaveField("ObjectMeta", And(HaveField("UID", was), HaveField("DeletionTimestamp", (*metav1.Time)(nil)))))

	// A kind that is taken out leaves bindings that nobody serves.
	v["bindingKinds"] = []any{"SharedTargetGroupBinding"}
	notes, err := s.upgrade(v)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(notes).To(And(ContainSubstring("TargetGroupBinding is not in bindingKinds"), ContainSubstring("`kubectl get targetgroupbindings --all-namespaces` shows none")))
	s.Expect(notes).NotTo(ContainSubstring("SharedTargetGroupBinding is not in"))
}

func (s *site) upgrade(v values) (notes string, err error) {
	upgrade := action.NewUpgrade(s.helm)
	upgrade.Namespace, upgrade.WaitStrategy = namespace, helmkube.HookOnlyStrategy
	r, err := upgrade.RunWithContext(s.t.Context(), releaseName, loadChart(s.t), v)
	if err != nil {
		return "", err
	}
	return r.(*release.Release).Info.Notes, nil
}
