// Package migrate_test moves bindings between a stand-in of the AWS Load
// Balancer Controller and this controller, with the command that people use, on
// a real API server.
package migrate_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/cmd/targetctl/cli"
	"target-ownership-controller/controller"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/peer"
	"target-ownership-controller/test/table"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	for _, variable := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		if err := os.Setenv(variable, "test"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// setup is one at a time, as in a process of its own: it registers metrics.
var setup sync.Mutex

const (
	namespace = "shop"
	name      = "web"
	east      = "east" // the cluster ID
	patience  = 2 * time.Minute
)

var key = client.ObjectKey{Namespace: namespace, Name: name}

// world is a cluster, a table, and a group that it shares with others.
type world struct {
	*WithT
	t     *testing.T
	api   *kube.Cluster
	sim   *elbsim.Simulator
	table *table.Table
	store *dynamo.Table
	group elbsim.Group
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, sim: elbsim.New(elbsim.Options{Region: table.Region}), table: table.Kumo.Start(t)}
	w.SetDefaultEventuallyTimeout(patience)
	w.SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	w.store = dynamo.New(w.table.Client, w.table.Name, dynamo.Options{})
	_, err := w.sim.Start()
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(w.sim.Close)
	w.group, err = w.sim.CreateGroup(elbsim.Group{Name: "blue", Protocol: "HTTP", Port: 80, VPCID: "vpc-0123456789abcdef0", TargetType: "ip"})
	w.Expect(err).NotTo(HaveOccurred())

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, kind.TargetGroupBinding.AddToScheme, kind.SharedTargetGroupBinding.AddToScheme} {
		w.Expect(add(scheme)).To(Succeed())
	}
	w.api = kube.ForTest(t, kube.Options{CRDPaths: []string{"../../charts/target-ownership-controller/files/crds"}, Scheme: scheme})
	w.Expect(w.api.CreateNamespace(t.Context(), namespace)).To(Succeed())
	w.has(w.service(name))
	return w
}

func (w *world) service(name string) client.Object {
	port := corev1.ServicePort{Name: kube.ServicePortName, Port: kube.ServicePort, TargetPort: intstr.FromInt32(kube.TargetPort)}
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{port}}}
}

func (w *world) has(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		o.SetNamespace(namespace)
		w.Expect(w.api.Client.Create(w.t.Context(), o)).To(Succeed())
	}
}

// binding is LBC's, of the Service.
func (w *world) binding(edits ...func(*v1beta1.TargetGroupBinding)) *v1beta1.TargetGroupBinding {
	b := &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.TargetGroupBindingSpec{
		TargetGroupARN: w.group.ARN, MultiClusterTargetGroup: true,
		ServiceRef: v1beta1.ServiceReference{Name: name, Port: intstr.FromString(kube.ServicePortName)},
	}}
	for _, edit := range edits {
		edit(b)
	}
	return b
}

// runs makes these the endpoints of the Service.
func (w *world) runs(addresses ...string) {
	w.t.Helper()
	w.Expect(w.api.SetEndpoints(w.t.Context(), namespace, name, addresses...)).To(Succeed())
}

// registers puts targets into the group by hand.
func (w *world) registers(state types.TargetHealthStateEnum, targets ...string) {
	w.t.Helper()
	for _, target := range targets {
		id, _, _ := strings.Cut(target, ":")
		_, err := w.sim.Client("somebody").RegisterTargets(w.t.Context(), &elbv2.RegisterTargetsInput{
			TargetGroupArn: &w.group.ARN, Targets: []types.TargetDescription{{Id: &id, Port: new(int32(kube.TargetPort))}},
		})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.sim.SetHealth(w.group.ARN, target, state)).To(Succeed())
	}
}

// west is another cluster, which holds targets.
func (w *world) west(targets ...string) {
	w.t.Helper()
	record := ownership.Record{
		Group: ownership.GroupARN(w.group.ARN), Owner: ownership.Owner{Cluster: "west", Namespace: namespace, Name: name}, BindingUID: "uid",
		Revision: ownership.Revision{Version: 1, WriteID: "west"}, UpdatedAt: time.Now(),
	}.Clone()
	for _, target := range targets {
		record.Held[ownership.Target(target)] = time.Now()
	}
	w.Expect(w.store.Put(w.t.Context(), record, ownership.Revision{})).To(Succeed())
	w.registers(types.TargetHealthStateEnumHealthy, targets...)
}

// held is what an owner of this cluster holds.
func (w *world) held(owner string) []ownership.Target {
	w.t.Helper()
	read, err := w.store.Records(w.t.Context(), ownership.GroupARN(w.group.ARN))
	w.Expect(err).NotTo(HaveOccurred())
	var held []ownership.Target
	for _, r := range read.Records {
		if r.Owner == (ownership.Owner{Cluster: east, Namespace: namespace, Name: owner}) {
			for t := range r.Held {
				held = append(held, t)
			}
		}
	}
	return held
}

// owners are all that have a record in the group.
func (w *world) owners() []string {
	w.t.Helper()
	read, err := w.store.Records(w.t.Context(), ownership.GroupARN(w.group.ARN))
	w.Expect(err).NotTo(HaveOccurred())
	var owners []string
	for _, r := range read.Records {
		owners = append(owners, r.Owner.String())
	}
	return owners
}

func (w *world) registered() []string { return w.sim.Registered(w.group.ARN) }

// gone reports whether there is no such object.
func (w *world) gone(o client.Object, name string) bool {
	err := w.api.Client.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o)
	return apierrors.IsNotFound(err)
}

// manage runs a manager until stop is called.
func (w *world) manage(options ctrl.Options, add func(ctrl.Manager) error) (stop func()) {
	w.t.Helper()
	options.Scheme, options.Metrics = w.api.Client.Scheme(), metricsserver.Options{BindAddress: "0"}
	options.Controller = config.Controller{SkipNameValidation: new(true)}
	mgr, err := ctrl.NewManager(w.api.Config, options)
	w.Expect(err).NotTo(HaveOccurred())
	setup.Lock()
	err = add(mgr)
	setup.Unlock()
	w.Expect(err).NotTo(HaveOccurred())
	return kube.Run(w.t, mgr)
}

// ours runs this controller.
func (w *world) ours(kinds ...kind.Kind) (stop func()) {
	w.t.Helper()
	return w.oursWith(func(*controller.Options) {}, kinds...)
}

func (w *world) oursWith(edit func(*controller.Options), kinds ...kind.Kind) (stop func()) {
	w.t.Helper()
	limit := elb.Limit{PerSecond: 1000, Burst: 1000}
	return w.manage(ctrl.Options{}, func(mgr ctrl.Manager) error {
		o := controller.Options{
			Table:     w.store,
			Groups:    elb.New(w.sim.Client(east), elb.Options{Region: table.Region, Limits: elb.Limits{Reads: limit, Mutations: limit}}),
			ClusterID: east, Version: "test", ComparePeriod: 5 * time.Minute, HeartbeatPeriod: 5 * time.Second, Workers: 2, Kinds: kinds,
		}
		edit(&o)
		return controller.Setup(w.t.Context(), mgr, o)
	})
}

// lbc runs the stand-in of LBC, which leads as LBC does.
func (w *world) lbc() (stop func()) {
	w.t.Helper()
	options := ctrl.Options{LeaderElection: true, LeaderElectionID: peer.Lease, LeaderElectionNamespace: "kube-system"}
	return w.manage(options, func(mgr ctrl.Manager) error {
		c := &peer.Controller{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), ELB: w.sim.Client("lbc", func(o *elbv2.Options) { o.HTTPClient = &http.Client{} })}
		return c.SetupWithManager(mgr)
	})
}

// targetctl runs the command.
func (w *world) targetctl(line ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	line = append([]string{
		"targetctl", "--region", table.Region, "--table", w.table.Name, "--dynamodb-endpoint", w.table.Endpoint, "--elbv2-endpoint", w.sim.URL(),
		"migrate",
	}, line...)
	line = append(line, "--kubeconfig", w.api.Kubeconfig)
	code = cli.Run(w.t.Context(), cli.Streams{In: strings.NewReader(""), Out: &out, Err: stamped{&errs}}, "test", line)
	return code, out.String(), errs.String()
}

// migrates runs the command, which has to succeed.
func (w *world) migrates(line ...string) string {
	w.t.Helper()
	code, out, errs := w.targetctl(append(line, "--yes")...)
	w.t.Logf("%v:\n%s%s", line, out, errs)
	w.Expect(code).To(BeZero(), errs)
	return out + errs
}

func at(addresses ...string) []string {
	targets := make([]string, len(addresses))
	for i, a := range addresses {
		targets[i] = fmt.Sprintf("%s:%d", a, kube.TargetPort)
	}
	return targets
}

// stamped says when each line was written.
type stamped struct{ to *bytes.Buffer }

func (s stamped) Write(line []byte) (int, error) {
	fmt.Fprintf(s.to, "%s ", time.Now().Format(time.StampMilli))
	return s.to.Write(line)
}
