package managed_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/managed"
)

// made is a world with a binding of group web, which is ready.
func made(t *testing.T) (*world, *managed.Reconciler) {
	t.Helper()
	w := newWorld(t, service(inGroup("web")))
	r := managed.OfServices(w.options())
	_, err := w.passes(r, "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.makesReady()
	w.Expect(w.told()).To(Equal([]string{"BindingCreated"}))
	return w, r
}

// asks changes the annotation, and makes a pass.
func (w *world) asks(r *managed.Reconciler, text string) {
	w.t.Helper()
	w.Expect(w.client.Update(w.t.Context(), service(inGroup(text)))).To(Succeed())
	_, err := w.passes(r, "web")
	w.Expect(err).NotTo(HaveOccurred())
}

func (w *world) of(group string) *v1beta1.TargetGroupBinding {
	w.t.Helper()
	for _, b := range w.bindings() {
		if b.Spec.TargetGroupName == group {
			return &b
		}
	}
	w.t.Fatalf("there is no binding of group %s", group)
	return nil
}

// A binding that is ready and goes, or was ready before it was changed, is none
// that another one could leave its targets to.
func TestWhatIsNotReady(t *testing.T) {
	for name, change := range map[string]func(*world, *v1beta1.TargetGroupBinding){
		"goes": func(w *world, b *v1beta1.TargetGroupBinding) {
			b.Finalizers = []string{v1beta1.Finalizer}
			w.Expect(w.client.Update(w.t.Context(), b)).To(Succeed())
			w.Expect(w.client.Delete(w.t.Context(), b)).To(Succeed())
		},
		"changed": func(w *world, b *v1beta1.TargetGroupBinding) {
			b.Generation++
			w.Expect(w.client.Update(w.t.Context(), b)).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, r := made(t)
			w.asks(r, "other")
			w.makesReady()
			change(w, w.of("other"))
			before := w.of("other").ResourceVersion
			_, err := w.passes(r, "web")
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.of("web")).NotTo(BeNil())
			w.Expect(w.of("other").ResourceVersion).To(Equal(before))
		})
	}
}

// The Service is told what a person has to mend in its binding, and nothing
// that passes by itself.
func TestWhatIsToldOfABinding(t *testing.T) {
	for _, c := range []struct {
		status metav1.ConditionStatus
		reason v1beta1.ConditionReason
		told   []string
	}{
		{metav1.ConditionFalse, v1beta1.ReasonGroupNotFound, []string{"GroupNotFound"}},
		{metav1.ConditionFalse, v1beta1.ReasonTargetsRefused, []string{"TargetsRefused"}},
		{metav1.ConditionFalse, v1beta1.ReasonPending, []string{}},
		{metav1.ConditionFalse, v1beta1.ReasonClusterDrained, []string{}},
		{metav1.ConditionUnknown, v1beta1.ReasonEndpointsUnknown, []string{}},
		{metav1.ConditionTrue, v1beta1.ReasonNetworkingNotManaged, []string{}},
	} {
		w, r := made(t)
		b := w.of("web")
		b.Status.Conditions[0].Status, b.Status.Conditions[0].Reason = c.status, string(c.reason)
		w.Expect(w.client.Update(t.Context(), b)).To(Succeed())
		_, err := w.passes(r, "web")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.told()).To(Equal(c.told), "%s %s", c.status, c.reason)
	}
}

// What the cache does not know yet is no error, and is not overwritten.
func TestOthersWriteToo(t *testing.T) {
	resource := schema.GroupResource{Resource: "targetgroupbindings"}
	w := newWorld(t, service(inGroup("web")))
	w.client = interceptor.NewClient(w.client, interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return apierrors.NewAlreadyExists(resource, "web")
	}})
	after, err := w.passes(managed.OfServices(w.options()), "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after).To(Equal(managed.UntilCaught))

	w, _ = made(t)
	stale := w.of("web")
	stale.Labels = nil
	fresh := w.of("web")
	fresh.Annotations = map[string]string{"note": "mine"}
	w.Expect(w.client.Update(t.Context(), fresh)).To(Succeed())
	w.client = interceptor.NewClient(w.client, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if b, is := o.(*v1beta1.TargetGroupBinding); is {
			stale.DeepCopyInto(b)
			return nil
		}
		return c.Get(ctx, key, o, opts...)
	}})
	after, err = w.passes(managed.OfServices(w.options()), "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after).To(Equal(managed.UntilCaught))
}

// A rule of the CRD, and a webhook that answers with 400, refuse as well.
func TestEveryRefusalIsTold(t *testing.T) {
	for _, refusal := range []error{
		apierrors.NewInvalid(schema.GroupKind{Kind: "TargetGroupBinding"}, "web", nil),
		apierrors.NewBadRequest("admission webhook denied the request"),
	} {
		w := newWorld(t, service(inGroup("web")))
		w.client = interceptor.NewClient(w.client, interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return refusal
		}})
		after, err := w.passes(managed.OfServices(w.options()), "web")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after).To(Equal(managed.UntilAllowed))
		w.Expect(w.told()).To(Equal([]string{"BindingRefused"}))
	}
}

// A Service of the same name is the owner in place of the one that was deleted.
func TestAServiceMadeAnew(t *testing.T) {
	w, r := made(t)
	w.Expect(w.client.Delete(t.Context(), service(nil))).To(Succeed())
	anew := service(inGroup("web"))
	anew.UID = "uid-anew"
	w.Expect(w.client.Create(t.Context(), anew)).To(Succeed())
	_, err := w.passes(r, "web")
	w.Expect(err).NotTo(HaveOccurred())
	b := w.of("web")
	w.Expect(b.OwnerReferences).To(HaveLen(1))
	w.Expect(metav1.IsControlledBy(b, anew)).To(BeTrue())
}

// Another program may give its bindings to a Service.
func TestABindingOfTheServiceWithoutTheLabel(t *testing.T) {
	w, r := made(t)
	b := w.of("web")
	b.Name, b.ResourceVersion, b.Labels = "mine", "", nil
	w.Expect(w.client.Create(t.Context(), b)).To(Succeed())
	w.asks(r, "")
	w.Expect(w.bindings()).To(ConsistOf(HaveField("Name", "mine")))
}

// The other controller is in the way of bindings only.
func TestAClosedGateWithoutBindings(t *testing.T) {
	w := newWorld(t, service(inGroup("htp: a")))
	w.gate = gate{&cluster.LoadBalancerControllerError{}}
	_, err := w.passes(managed.OfServices(w.options()), "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.told()).To(Equal([]string{"PortNotFound"}))
}
