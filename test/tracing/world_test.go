// Package tracing tests the traces of passes, from the reconciler to an
// OpenTelemetry collector, over the SDKs of AWS and of OpenTelemetry.
package tracing

import (
	"bytes"
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	logzap "sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/controller/tracing"
	"target-ownership-controller/controller/tracing/otlp"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/table"
)

// What must be in no trace.
const (
	secretKey    = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
	sessionToken = "IQoJb3JpZ2luX2VjEXAMPLETOKEN"
)

var web = client.ObjectKey{Namespace: "shop", Name: "web"}

// world is a binding, and a controller that sends its traces to an endpoint.
type world struct {
	*WithT
	t          *testing.T
	kubernetes client.Client
	sim        *elbsim.Simulator
	group      elbsim.Group
	provider   *sdktrace.TracerProvider
	config     binding.Reconciler
	reconciler *binding.Reconciler
}

// logged is the log of all tests, which run one after the other.
var logged logBuffer

func TestMain(m *testing.M) {
	log.SetLogger(logzap.New(logzap.WriteTo(&logged)))
	os.Exit(m.Run())
}

func newWorld(t *testing.T, endpoint string, ratio float64) *world {
	t.Helper()
	logged.clear()
	w := &world{WithT: NewWithT(t), t: t}
	w.sim = elbsim.New(elbsim.Options{})
	_, err := w.sim.Start()
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(w.sim.Close)
	w.group, err = w.sim.CreateGroup(elbsim.Group{Name: "web", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: elbsim.TargetTypeIP})
	w.Expect(err).NotTo(HaveOccurred())
	w.kubernetes = w.cluster()
	w.provider, err = otlp.New(t.Context(), otlp.Options{Endpoint: endpoint, Ratio: ratio, Version: "v1.2.3"})
	w.Expect(err).NotTo(HaveOccurred())
	w.limits(elb.Limits{})
	return w
}

// cluster has a Service with two endpoints and a binding of it.
func (w *world) cluster() client.Client {
	scheme := runtime.NewScheme()
	w.Expect(clientscheme.AddToScheme(scheme)).To(Succeed())
	w.Expect(v1beta1.AddToScheme(scheme)).To(Succeed())
	meta := metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}
	slice := meta
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: web.Name}
	bound := meta
	bound.UID = "0b5f8d4e-2c3a-4d57-9a51-5a7a8f1f0c11"
	ready := func(address string) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1beta1.TargetGroupBinding{}).WithObjects(
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}}},
		&discoveryv1.EndpointSlice{
			ObjectMeta: slice, AddressType: discoveryv1.AddressTypeIPv4,
			Ports:     []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
			Endpoints: []discoveryv1.Endpoint{ready("10.0.0.1"), ready("10.0.0.2")},
		},
		&v1beta1.TargetGroupBinding{ObjectMeta: bound, Spec: v1beta1.TargetGroupBindingSpec{
			TargetGroupARN: w.group.ARN, MultiClusterTargetGroup: true,
			ServiceRef: v1beta1.ServiceReference{Name: web.Name, Port: intstr.FromString("http")},
		}},
	).Build()
}

// limits starts a controller with these, and an empty table.
func (w *world) limits(limits elb.Limits) {
	w.t.Helper()
	keys := credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", secretKey, sessionToken)
	engine := table.Kumo.Start(w.t)
	store := dynamodb.NewFromConfig(engine.Config, func(o *dynamodb.Options) {
		o.Credentials, o.APIOptions = keys, append(o.APIOptions, metrics.TimeCalls)
	})
	groups := w.sim.Client("east", func(o *elbv2.Options) {
		o.Credentials, o.APIOptions = keys, append(o.APIOptions, metrics.TimeCalls)
	})
	w.config = binding.Reconciler{
		Client: w.kubernetes, Live: w.kubernetes, Groups: elb.New(groups, elb.Options{Limits: limits}),
		Store: dynamo.New(store, engine.Name, dynamo.Options{}), Gate: open{}, Events: &events.FakeRecorder{},
		Clock: clock.RealClock{}, NewID: uuid.NewString, Tracer: w.provider.Tracer(tracing.Scope),
		Options: binding.Options{Kind: kind.TargetGroupBinding, ClusterID: "east", Version: "v1.2.3", ComparePeriod: time.Hour},
	}
	w.restarts()
}

// restarts has a new controller process take over.
func (w *world) restarts() { w.reconciler = binding.New(w.config) }

// open is a gate that lets everything through.
type open struct{}

func (open) Check() error                  { return nil }
func (open) Drained() bool                 { return false }
func (open) Mark() cluster.Mark            { return 0 }
func (open) CheckSince(cluster.Mark) error { return nil }

func (w *world) passes() {
	w.t.Helper()
	_, err := w.reconciler.Reconcile(log.IntoContext(w.t.Context(), log.Log), reconcile.Request{NamespacedName: web})
	w.Expect(err).NotTo(HaveOccurred())
}

// binding is the binding as it is now.
func (w *world) binding() *v1beta1.TargetGroupBinding {
	w.t.Helper()
	b := &v1beta1.TargetGroupBinding{}
	w.Expect(w.kubernetes.Get(w.t.Context(), web, b)).To(Succeed())
	return b
}

// loses has the binding go without its finalizer.
func (w *world) loses() {
	w.t.Helper()
	b := w.binding()
	b.Finalizers = nil
	w.Expect(w.kubernetes.Update(w.t.Context(), b)).To(Succeed())
	w.Expect(w.kubernetes.Delete(w.t.Context(), b)).To(Succeed())
}

func (w *world) expectTargets(targets ...string) {
	w.t.Helper()
	w.Expect(w.sim.Registered(w.group.ARN)).To(ConsistOf(targets))
}

// ends sends what has not been sent.
func (w *world) ends() {
	w.t.Helper()
	w.Expect(w.provider.Shutdown(context.Background())).To(Succeed())
}

// logBuffer is the log.
type logBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(line)
}

func (l *logBuffer) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Reset()
}

// lines are those with the text, so far.
func (l *logBuffer) lines(text string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for line := range bytes.Lines(l.all.Bytes()) {
		if bytes.Contains(line, []byte(text)) {
			found = append(found, string(line))
		}
	}
	return found
}
