package managed_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
)

// gate is open if nil.
type gate struct{ error }

func (g gate) Check() error { return g.error }

// world is a client, which is a cache too, with another view of the API server
// where a test wants that.
type world struct {
	*WithT
	t      *testing.T
	client client.WithWatch
	live   client.Reader
	gate   gate
	events *events.FakeRecorder
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, events: events.NewFakeRecorder(100)}
	w.client = w.clientOf(objects...)
	w.live = w.client
	return w
}

func (w *world) clientOf(objects ...client.Object) client.WithWatch {
	w.t.Helper()
	scheme := clientscheme.Scheme
	w.Expect(v1beta1.AddToScheme(scheme)).To(Succeed())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(kind.TargetGroupBinding.New(), managed.ByOwner, managed.OwnersOf).Build()
}

func (w *world) options() managed.Options {
	return managed.Options{Client: w.client, Live: w.live, Kind: kind.TargetGroupBinding, Gate: w.gate, Events: w.events}
}

// passes makes one pass over the object of that name.
func (w *world) passes(r *managed.Reconciler, name string) (time.Duration, error) {
	w.t.Helper()
	result, err := r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: name}})
	return result.RequeueAfter, err
}

func (w *world) bindings() []v1beta1.TargetGroupBinding {
	w.t.Helper()
	var list v1beta1.TargetGroupBindingList
	w.Expect(w.client.List(w.t.Context(), &list)).To(Succeed())
	return list.Items
}

// told are the reasons of the events since the last look.
func (w *world) told() []string {
	reasons := []string{}
	for len(w.events.Events) > 0 {
		reasons = append(reasons, strings.Fields(<-w.events.Events)[1])
	}
	return reasons
}

func service(annotations map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web", Annotations: annotations},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
}

func inGroup(text string) map[string]string {
	return map[string]string{managed.ServiceSharedAnnotation: "true", managed.TargetGroupsAnnotation: text}
}

func ingress(name string, annotations map[string]string) *networkingv1.Ingress {
	all := map[string]string{managed.IngressSharedAnnotation: "true", "kubernetes.io/ingress.class": "alb"}
	for key, value := range annotations {
		all[key] = value
	}
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Annotations: all},
		Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}},
		}},
	}
}

// A cache that lags, as after a change of the leader, shows the Service
// without its annotation, or with an earlier one.
func TestACacheThatIsBehindDeletesNothing(t *testing.T) {
	for name, behind := range map[string]map[string]string{"without": nil, "with another": inGroup("earlier")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, service(inGroup("web")))
			_, err := w.passes(managed.OfServices(w.options()), "web")
			w.Expect(err).NotTo(HaveOccurred())
			made := w.bindings()[0]
			made.Status = ready(made.Generation)

			w.client, w.live = w.clientOf(service(behind), made.DeepCopy()), w.client
			r := managed.OfServices(w.options())
			for range 2 { // the binding of the earlier group is made, and ready, before another goes
				_, err = w.passes(r, "web")
				w.Expect(err).NotTo(HaveOccurred())
				w.makesReady()
			}
			after, err := w.passes(r, "web")
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(after).To(Equal(managed.UntilCaught))
			w.Expect(w.bindings()).To(ContainElement(HaveField("Name", made.Name)))
			w.Expect(w.told()).NotTo(ContainElement("BindingDeleted"))
		})
	}
}

// The object was replaced, or is gone, and the cache does not know it.
func TestAnOwnerThatIsAnotherByNow(t *testing.T) {
	w := newWorld(t, service(inGroup("web")))
	r := managed.OfServices(w.options())
	_, err := w.passes(r, "web")
	w.Expect(err).NotTo(HaveOccurred())
	replaced := service(nil)
	replaced.UID = "uid-other"
	for _, live := range []client.Reader{w.clientOf(replaced), w.clientOf()} {
		w.live = live
		w.client = w.clientOf(service(nil), w.bindings()[0].DeepCopy())
		after, err := w.passes(managed.OfServices(w.options()), "web")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after).To(Equal(managed.UntilCaught))
		w.Expect(w.bindings()).To(HaveLen(1))
	}
}

func ready(generation int64) v1beta1.TargetGroupBindingStatus {
	return v1beta1.TargetGroupBindingStatus{ObservedGeneration: generation, Conditions: []metav1.Condition{{
		Type: string(v1beta1.ConditionReady), Status: metav1.ConditionTrue, Reason: string(v1beta1.ReasonReconciled), LastTransitionTime: metav1.Now(),
	}}}
}

// makesReady plays the reconciler of bindings.
func (w *world) makesReady() {
	w.t.Helper()
	for _, b := range w.bindings() {
		b.Status = ready(b.Generation)
		w.Expect(w.client.Update(w.t.Context(), &b)).To(Succeed())
	}
}

// An old binding waits for a new one of its port or group, and for no other.
func TestWhatABindingWaitsFor(t *testing.T) {
	for _, c := range []struct{ now, why string }{
		{"http: other", "another group of the port"},
		{"admin: web", "the group, for another port"},
		{"admin: arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6bc24d8a067", "the group in another form"},
		{"admin: other", ""},
	} {
		t.Run(c.now, func(t *testing.T) {
			s := service(inGroup("http: web"))
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "admin", Port: 81})
			w := newWorld(t, s)
			r := managed.OfServices(w.options())
			_, err := w.passes(r, "web")
			w.Expect(err).NotTo(HaveOccurred())
			w.makesReady()
			s = service(inGroup(c.now))
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "admin", Port: 81})
			w.Expect(w.client.Update(t.Context(), s)).To(Succeed())
			_, err = w.passes(r, "web")
			w.Expect(err).NotTo(HaveOccurred())
			if c.why == "" {
				w.Expect(w.bindings()).To(HaveLen(1))
				return
			}
			w.Expect(w.bindings()).To(HaveLen(2), c.why)
			_, err = w.passes(r, "web")
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.bindings()).To(HaveLen(2), "not ready yet")
			w.makesReady()
			_, err = w.passes(r, "web")
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.bindings()).To(HaveLen(1))
		})
	}
}

// A refusal is an event, told once, and tried again; the other bindings are
// made.
func TestARefusalIsToldAndTriedAgain(t *testing.T) {
	w := newWorld(t, service(inGroup("[web, other]")))
	var refuse error = apierrors.NewForbidden(schema.GroupResource{Resource: "targetgroupbindings"}, "web", errors.New("exceeded quota"))
	w.client = interceptor.NewClient(w.client, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if o.(*v1beta1.TargetGroupBinding).Spec.TargetGroupName == "web" && refuse != nil {
				return refuse
			}
			return c.Create(ctx, o, opts...)
		},
	})
	r := managed.OfServices(w.options())
	for i, want := range [][]string{{"BindingCreated", "BindingRefused"}, {}} {
		after, err := w.passes(r, "web")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after).To(Equal(managed.UntilAllowed))
		w.Expect(w.told()).To(Equal(want), "pass %d", i)
	}
	refuse = errors.New("connection reset")
	_, err := w.passes(r, "web")
	w.Expect(err).To(MatchError(ContainSubstring("connection reset")), "tried again soon")
	refuse = nil
	after, err := w.passes(r, "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(after).To(BeZero())
	w.Expect(w.bindings()).To(HaveLen(2))
	w.Expect(w.told()).To(Equal([]string{"BindingCreated"}))
}

// Nothing is written while the gate is closed; that the other controller runs
// is told, where somebody waits for a binding.
func TestAClosedGate(t *testing.T) {
	w := newWorld(t, service(inGroup("web")))
	w.gate = gate{&cluster.LoadBalancerControllerError{}}
	r := managed.OfServices(w.options())
	for _, want := range [][]string{{"LoadBalancerControllerActive"}, {}} {
		after, err := w.passes(r, "web")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after).To(Equal(managed.UntilOpen))
		w.Expect(w.told()).To(Equal(want))
	}
	w.gate = gate{&cluster.NotClaimedError{}}
	_, err := w.passes(managed.OfServices(w.options()), "web")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.told()).To(BeEmpty(), "passes by itself")
	w.Expect(w.bindings()).To(BeEmpty())
}

// All policies are the owner's, those that it does not have too.
func TestPoliciesAreThoseOfTheOwner(t *testing.T) {
	const maximum, share, order = v1beta1.MaximumAnnotation, v1beta1.ShareAnnotation, v1beta1.OrderAnnotation
	asks := ingress("first", map[string]string{managed.TargetGroupsAnnotation: "web: {group: web}", maximum: "5", share: "20%", "note": "its own"})
	w := newWorld(t, service(nil), asks)
	r := managed.OfIngresses(w.options())
	_, err := w.passes(r, "first")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.bindings()[0].Annotations).To(Equal(map[string]string{maximum: "5", share: "20%"}))

	changed := w.bindings()[0]
	changed.Annotations = map[string]string{maximum: "50", order: v1beta1.OrderReleaseFirst, "note": "somebody's"}
	w.Expect(w.client.Update(t.Context(), &changed)).To(Succeed())
	_, err = w.passes(r, "first")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.bindings()[0].Annotations).To(Equal(map[string]string{maximum: "5", share: "20%", "note": "somebody's"}))
}

// The first owner decides on what the name leaves open.
func TestOwnersDisagree(t *testing.T) {
	asks := func(name, role string) *networkingv1.Ingress {
		return ingress(name, map[string]string{
			managed.TargetGroupsAnnotation: "web: {group: web, targetType: instance, nodeSelector: {matchLabels: {role: " + role + "}}}",
		})
	}
	retains := asks("retains", "a")
	retains.Annotations[v1beta1.DeletionPolicyAnnotation] = v1beta1.DeletionPolicyRetain
	w := newWorld(t, service(nil), asks("first", "a"), asks("same", "a"), asks("other", "b"), retains)
	r := managed.OfIngresses(w.options())
	for _, c := range []struct {
		name string
		told []string
	}{{"first", []string{"BindingCreated"}}, {"same", []string{}}, {"other", []string{"OwnersDisagree"}}, {"retains", []string{"OwnersDisagree"}}} {
		_, err := w.passes(r, c.name)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.told()).To(Equal(c.told), c.name)
	}
	w.Expect(w.bindings()).To(HaveLen(1))
	b := w.bindings()[0]
	w.Expect(b.Spec.NodeSelector.MatchLabels).To(Equal(map[string]string{"role": "a"}))
	w.Expect(b.Spec.TargetType).To(HaveValue(Equal(v1beta1.TargetTypeInstance)))
	w.Expect(b.Annotations).To(BeEmpty())
	w.Expect(b.OwnerReferences).To(HaveLen(4))
	w.Expect(metav1.GetControllerOf(&b).Name).To(Equal("first"))
}
