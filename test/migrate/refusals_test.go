package migrate_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/cmd/targetctl/migrate"
	shared "target-ownership-controller/controller/api/shared/v1beta1"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/peer"
)

// called names a binding.
func called(name string) func(*v1beta1.TargetGroupBinding) {
	return func(b *v1beta1.TargetGroupBinding) { b.Name = name }
}

// What stands in the way is told, of each binding, and it is left as it is.
func TestWhatStandsInTheWay(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	w.runs("10.0.0.1")
	for name, edit := range map[string]func(*v1beta1.TargetGroupBinding){
		"rubbish":   func(*v1beta1.TargetGroupBinding) {},
		"rules":     func(b *v1beta1.TargetGroupBinding) { b.Spec.Networking = &v1beta1.TargetGroupBindingNetworking{} },
		"kept":      func(b *v1beta1.TargetGroupBinding) { b.Finalizers = []string{"example.com/keep", peer.Finalizer} },
		"elsewhere": func(b *v1beta1.TargetGroupBinding) { b.Spec.ServiceRef.Name = "elsewhere" },
		"account": func(b *v1beta1.TargetGroupBinding) {
			b.Spec.IamRoleArnToAssume = "arn:aws:iam::111122223333:role/targets"
			b.Spec.TargetType = new(v1beta1.TargetTypeIP)
		},
		"deleted":   finalized,
		"exclusive": func(b *v1beta1.TargetGroupBinding) { b.Spec.MultiClusterTargetGroup = false },
		"ingress":   func(b *v1beta1.TargetGroupBinding) { b.Labels = map[string]string{"ingress.k8s.aws/stack": "shop"} },
	} {
		w.has(w.binding(called(name), edit))
	}
	w.has(w.lists("rubbish", "10.0.0.1:http"))
	w.Expect(w.api.Client.Delete(t.Context(), w.binding(called("deleted"), func(b *v1beta1.TargetGroupBinding) { b.Namespace = namespace }))).To(Succeed())
	w.has(&shared.SharedTargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: w.binding().Spec})

	code, _, errs := w.targetctl("lbc", "--dry-run")
	w.Expect(code).To(Equal(1))
	w.Expect(errs).To(ContainSubstring("the table has no entry of the cluster that the kubeconfig names"))

	w.ours() // the heartbeat alone
	w.Eventually(w.clusters).Should(ConsistOf(east))
	before := w.versions()
	code, out, errs := w.targetctl("lbc", "--yes", "-o", "json")
	w.Expect(code).To(Equal(1))
	w.Expect(errs).To(ContainSubstring("bindings not moved: 6; the plan says what stands in the way"))
	var rows []migrate.Row
	w.Expect(json.Unmarshal([]byte(out), &rows)).To(Succeed())
	told := map[string]string{}
	for _, r := range rows {
		told[r.Binding] = r.Obstacle
	}
	w.Expect(told).To(Equal(map[string]string{
		"shop/rubbish":   `ConfigMap shop/aws-lbc-targets-rubbish is not a list that LBC wrote: the port of "10.0.0.1:http" is not a number; correct or delete it`,
		"shop/rules":     "spec.networking: LBC takes the security group rules back when its binding goes; add rules of your own, and remove the field",
		"shop/kept":      "it has the finalizer example.com/keep, so that it would not go at once",
		"shop/elsewhere": "there is a SharedTargetGroupBinding of that name with another spec",
		"shop/account":   "spec.iamRoleArnToAssume: give --group-role arn:aws:iam::111122223333:role/targets, or another role of account 111122223333 that you may assume",
		"shop/deleted":   "it is being deleted: LBC takes its targets out",
	}))

	// Where LBC decides about readiness, nothing moves.
	namespaceOf := &corev1.Namespace{}
	w.Expect(w.api.Client.Get(t.Context(), client.ObjectKey{Name: namespace}, namespaceOf)).To(Succeed())
	namespaceOf.Labels["elbv2.k8s.aws/pod-readiness-gate-inject"] = "enabled"
	w.Expect(w.api.Client.Update(t.Context(), namespaceOf)).To(Succeed())
	w.has(w.binding())
	_, out, _ = w.targetctl("lbc", "--dry-run")
	w.Expect(out).To(MatchRegexp(`shop/web .* NOTHING: LBC decides about the readiness of pods in the namespace`))
	w.Expect(w.api.Client.Delete(t.Context(), w.object(name))).To(Succeed())
	w.Expect(w.versions()).To(Equal(before))
	w.Expect(w.owners()).To(BeEmpty())
}

// So it is on the way back.
func TestWhatStandsInTheWayBack(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	w.runs("10.0.0.1")
	w.ours() // the heartbeat alone
	w.Eventually(w.clusters).Should(ConsistOf(east))
	twin := func(name string, edits ...func(*shared.SharedTargetGroupBinding)) client.Object {
		b := &shared.SharedTargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: w.binding().Spec}
		for _, edit := range edits {
			edit(b)
		}
		return b
	}
	ours := func(b *v1beta1.TargetGroupBinding) { b.Finalizers = []string{v1beta1.Finalizer} }
	deleted := twin("deleted", func(b *shared.SharedTargetGroupBinding) { b.Finalizers = []string{v1beta1.Finalizer} })
	w.has(
		w.binding(called("unspoken"), ours), w.binding(called("lbcs"), finalized), deleted,
		twin("elsewhere", func(b *shared.SharedTargetGroupBinding) { b.Spec.ServiceRef.Name = "elsewhere" }), w.binding(called("elsewhere")),
		twin("made", func(b *shared.SharedTargetGroupBinding) {
			b.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: name, UID: "uid"}}
		}),
		twin("listed"), w.lists("listed", "10.0.0.1:8080"),
	)
	w.Expect(w.api.Client.Delete(t.Context(), deleted)).To(Succeed())
	before := w.versions()
	code, out, _ := w.targetctl("back-to-lbc", "--yes", "--from", "TargetGroupBinding")
	w.Expect(code).To(Equal(1))
	w.Expect(out).To(MatchRegexp(`shop/unspoken .* NOTHING: its status has no condition Ready`))
	w.Expect(out).NotTo(ContainSubstring("lbcs"))

	code, out, _ = w.targetctl("back-to-lbc", "--yes")
	w.Expect(code).To(Equal(1))
	w.Expect(out).To(MatchRegexp(`shop/deleted .* NOTHING: it is being deleted, and its targets leave`))
	w.Expect(out).To(MatchRegexp(`shop/elsewhere .* NOTHING: there is a TargetGroupBinding of that name with another spec`))
	w.Expect(out).NotTo(ContainSubstring("made"))
	w.Expect(out).To(MatchRegexp(`shop/listed .* NOTHING: there is a list of LBC's, ConfigMap aws-lbc-targets-listed, of an earlier time: delete it`))
	w.Expect(w.versions()).To(Equal(before))
}

// A cluster that is drained registers nothing, and cannot take over.
func TestADrainedClusterTakesNothingOver(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	stop := w.ours(kind.SharedTargetGroupBinding)
	w.Eventually(w.clusters).Should(ConsistOf(east))
	stop()
	entry, err := w.store.Cluster(t.Context(), east)
	w.Expect(err).NotTo(HaveOccurred())
	seen := entry.Revision
	entry.State, entry.Revision = ownership.ClusterDrained, ownership.Revision{Version: seen.Version + 1, WriteID: "drained"}
	w.Expect(w.store.PutCluster(t.Context(), entry, seen)).To(Succeed())
	code, _, errs := w.targetctl("lbc", "--yes")
	w.Expect(code).To(Equal(1))
	w.Expect(errs).To(ContainSubstring("cluster east is Drained: its controller registers nothing; targetctl cluster undrain east first"))
}

// What cannot be carried out is told with its flag.
func TestWhatIsTypedWrongly(t *testing.T) {
	w := newWorld(t)
	t.Parallel()
	for _, c := range []struct {
		line []string
		code int
		says string
	}{
		{[]string{"lbc", "--to", "Ingress"}, 2, `--to: "Ingress" is not TargetGroupBinding or SharedTargetGroupBinding`},
		{[]string{"back-to-lbc", "--from", "Ingress"}, 2, `--from: "Ingress" is not TargetGroupBinding or SharedTargetGroupBinding`},
		{[]string{"lbc", "--context", "nosuch"}, 1, `context "nosuch" does not exist`},
		{[]string{"lbc", "web"}, 2, `unexpected argument "web"`},
	} {
		code, _, errs := w.targetctl(c.line...)
		w.Expect(code).To(Equal(c.code), errs)
		w.Expect(errs).To(ContainSubstring(c.says))
	}
	w.ours()
	w.Eventually(w.clusters).Should(ConsistOf(east))
	code, _, errs := w.targetctl("lbc", "--yes")
	w.Expect(code).To(BeZero())
	w.Expect(errs).To(ContainSubstring("there is nothing to move"))
	w.runs("10.0.0.1")
	w.has(w.binding())
	code, _, errs = w.targetctl("lbc")
	w.Expect(code).To(Equal(1))
	w.Expect(errs).To(ContainSubstring("not confirmed, so nothing was changed"))
	w.Expect(w.gone(kind.SharedTargetGroupBinding.New(), name)).To(BeTrue())
}

func (w *world) object(name string) client.Object {
	w.t.Helper()
	b := &v1beta1.TargetGroupBinding{}
	w.Expect(w.api.Client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, b)).To(Succeed())
	return b
}

// versions are those of all bindings.
func (w *world) versions() map[string]string {
	w.t.Helper()
	versions := map[string]string{}
	for _, k := range kind.All {
		list := k.NewList()
		w.Expect(w.api.Client.List(w.t.Context(), list)).To(Succeed())
		for _, o := range k.Items(list) {
			versions[k.Name+"/"+o.GetName()] = o.GetResourceVersion()
		}
	}
	return versions
}
