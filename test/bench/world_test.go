package bench

import (
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/table"
)

const (
	namespace = "shop"
	service   = "web"
)

// world is one cluster with shared groups, and no controller yet.
type world struct {
	cluster *kube.Cluster
	sim     *elbsim.Simulator
}

func prepare(b *testing.B) *world {
	b.Helper()
	ctrl.SetLogger(logr.Discard()) // keeps the controller's log out of the figures
	w := &world{sim: elbsim.New(elbsim.Options{Region: table.Region})}
	if _, err := w.sim.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.sim.Close)

	w.cluster = kube.ForTest(b, kube.Options{CRDPaths: []string{"../../charts/target-ownership-controller/files/crds"}, Scheme: scheme(b)})
	if err := w.cluster.CreateNamespace(b.Context(), namespace); err != nil {
		b.Fatal(err)
	}
	return w
}

func scheme(b *testing.B) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1beta1.AddToScheme} {
		if err := add(s); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// bindIn makes a group, a Service without endpoints, and their binding, and
// returns the ARN of the group.
func (w *world) bindIn(b *testing.B, namespace, name string) string {
	b.Helper()
	group := w.createGroup(b, namespace+"-"+name)
	w.bindTo(b, namespace, name, group)
	return group
}

func (w *world) createGroup(b *testing.B, name string) string {
	b.Helper()
	group, err := w.sim.CreateGroup(elbsim.Group{Name: name, Protocol: "HTTP", Port: 80, VPCID: "vpc-0123456789abcdef0", TargetType: "ip"})
	if err != nil {
		b.Fatal(err)
	}
	return group.ARN
}

func (w *world) setQuota(b *testing.B, group string, targets int) {
	b.Helper()
	if err := w.sim.ConfigureGroup(group, func(o *elbsim.Settings) { o.Quota = targets }); err != nil {
		b.Fatal(err)
	}
}

// bindTo makes a Service without endpoints, and its binding to a group.
func (w *world) bindTo(b *testing.B, namespace, name, group string) {
	b.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	port := corev1.ServicePort{Name: kube.ServicePortName, Port: kube.ServicePort, TargetPort: intstr.FromInt32(kube.TargetPort)}
	svc := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{port}}}
	binding := &v1beta1.TargetGroupBinding{ObjectMeta: meta, Spec: v1beta1.TargetGroupBindingSpec{
		TargetGroupARN:          group,
		MultiClusterTargetGroup: true,
		ServiceRef:              v1beta1.ServiceReference{Name: name, Port: intstr.FromString(kube.ServicePortName)},
	}}
	for _, o := range []client.Object{svc, binding} {
		if err := w.cluster.Client.Create(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}
