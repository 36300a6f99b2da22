package managed

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
)

// What people may not bind by hand the controller does not bind for them.
func TestAnAdmissionPolicyHoldsForAnnotations(t *testing.T) {
	w := newWorld(t, kind.TargetGroupBinding)
	w.forbidsOther()
	w.starts()
	w.runs("web", "10.0.0.1", inGroup("[other, web]"))
	w.eventuallyEvent("web", string(managed.ReasonBindingRefused))
	w.eventuallyGroup("web", "10.0.0.1:8080")
	w.Expect(w.only().Spec.TargetGroupName).To(Equal("web"))
	w.Expect(w.events("web")).To(HaveKeyWithValue(string(managed.ReasonBindingRefused), 1))
}

// forbidsOther has the API server refuse bindings of the group other in the
// namespace, and waits until it does.
func (w *world) forbidsOther() {
	w.t.Helper()
	name := w.namespace
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create},
			Rule:       admissionv1.Rule{APIGroups: []string{w.kind.Version.Group}, APIVersions: []string{"*"}, Resources: []string{w.kind.Resource}},
		}}}},
		Validations: []admissionv1.Validation{{Expression: `object.spec.?targetGroupName.orValue("") != "other"`, Message: "not in this namespace"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}}},
	}}
	w.Expect(cluster.Client.Create(w.t.Context(), policy)).To(Succeed())
	w.Expect(cluster.Client.Create(w.t.Context(), binding)).To(Succeed())
	w.Eventually(func() error {
		o := w.kind.New()
		o.SetNamespace(w.namespace)
		o.SetGenerateName("dry-")
		b := w.kind.Binding(o)
		b.Spec.TargetGroupName, b.Spec.ServiceRef = "other", v1beta1.ServiceReference{Name: "web", Port: intstr.FromString("http")}
		return cluster.Client.Create(w.t.Context(), o, client.DryRunAll)
	}).Should(MatchError(ContainSubstring("not in this namespace")))
}

// The AWS Load Balancer Controller would work on a TargetGroupBinding, and
// knows nothing of a SharedTargetGroupBinding.
func TestBesideTheLoadBalancerController(t *testing.T) {
	for _, k := range kind.All {
		t.Run(k.Name, func(t *testing.T) {
			w := newWorld(t, k)
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "load-balancer-controller"}, Spec: coordinationv1.LeaseSpec{
				HolderIdentity: new("pod-1"), RenewTime: new(metav1.NewMicroTime(time.Now())), LeaseDurationSeconds: new(int32(3600)),
			}}
			w.has(lease)
			w.runs("web", "10.0.0.1", inGroup("web"))
			w.starts()
			if k.Name == kind.SharedTargetGroupBinding.Name {
				w.eventuallyGroup("web", "10.0.0.1:8080")
				return
			}
			w.eventuallyEvent("web", string(managed.ReasonLoadBalancerControllerActive))
			w.Expect(w.bindings()).To(BeEmpty())
			w.Expect(cluster.Client.Delete(t.Context(), lease)).To(Succeed())
			w.eventuallyGroup("web", "10.0.0.1:8080")
		})
	}
}
