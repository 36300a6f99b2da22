package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/memory"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/table"
)

// side is one of the controllers that are compared: one binding in a namespace
// of its own, with a group of its own.
type side struct {
	*world
	*recorder
	name, namespace string
	group           string // ARN
	wrote           chan time.Time
	addresses       []string
	used            int // addresses so far
}

func (w *world) side(b *testing.B, name, namespace string) *side {
	b.Helper()
	return w.sideOf(b, name, namespace, w.createGroup(b, namespace+"-"+service))
}

// sideOf is a side with a group that others may have too.
func (w *world) sideOf(b *testing.B, name, namespace, group string) *side {
	b.Helper()
	if err := w.cluster.CreateNamespace(b.Context(), namespace); err != nil {
		b.Fatal(err)
	}
	w.bindTo(b, namespace, service, group)
	return &side{world: w, recorder: &recorder{}, name: name, namespace: namespace, group: group, wrote: make(chan time.Time, 1000)}
}

// manager sees the namespace of the side, and tells when a slice arrives.
func (s *side) manager(b *testing.B) manager.Manager {
	b.Helper()
	mgr, err := ctrl.NewManager(s.records(s.cluster.Config), ctrl.Options{
		Scheme: scheme(b), Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		b.Fatal(err)
	}
	informer, err := mgr.GetCache().GetInformer(b.Context(), &discoveryv1.EndpointSlice{}, cache.BlockUntilSynced(false))
	if err != nil {
		b.Fatal(err)
	}
	note := func() { s.wrote <- time.Now() }
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { note() }, UpdateFunc: func(_, _ any) { note() },
	})
	if err != nil {
		b.Fatal(err)
	}
	return mgr
}

func (s *side) elbClient() *elbv2.Client {
	return s.sim.Client(s.namespace, func(o *elbv2.Options) {
		o.HTTPClient = &http.Client{Transport: recorded{s.recorder, &http.Transport{}, *elbLatency, groupCall}}
	})
}

// inTable is this project's controller, as cmd/controller runs it.
func inTable(b *testing.B, s *side) {
	b.Helper()
	s.controlWith(b, table.Start(b))
}

// controlWith runs the controller of the side with a table.
func (s *side) controlWith(b *testing.B, t *table.Table) {
	b.Helper()
	client := dynamodb.NewFromConfig(t.Config, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: recorded{s.recorder, &http.Transport{}, *tableLatency, tableCall}}
	})
	s.control(b, dynamo.New(client, t.Name, dynamo.Options{}))
}

// inMemory is the same without a table, to tell what the table costs.
func inMemory(b *testing.B, s *side) {
	b.Helper()
	s.control(b, noTable{memory.New()})
}

// noTable is a table that costs nothing.
type noTable struct{ *memory.Table }

func (noTable) Verify(context.Context) error { return nil }

func (s *side) control(b *testing.B, t controller.Table) {
	b.Helper()
	mgr := another{s.manager(b), s.namespace}
	limit := elb.Limit{PerSecond: 1000, Burst: 1000} // the limiter is not what is measured
	err := controller.Setup(b.Context(), mgr, controller.Options{
		Table:     t,
		Groups:    elb.New(s.elbClient(), elb.Options{Limits: elb.Limits{Reads: limit, Mutations: limit}}),
		ClusterID: s.namespace, Version: "bench",
		ComparePeriod: time.Hour, HeartbeatPeriod: time.Hour, Workers: 1,
		Kinds: []kind.Kind{kind.TargetGroupBinding},
	})
	if err != nil {
		b.Fatal(err)
	}
	kube.Run(b, mgr)
}

// sample is what a controller made of one change.
type sample struct {
	delivered                      time.Duration // from the write of the slices to the first event
	registered, deregistered, pass time.Duration // from the first event to the last answer
	calls                          map[string]int
	bytes                          int64
}

// replace gives the Service n addresses, of which the last k are new, and
// waits until the group has them and the controller is at rest.
func (s *side) replace(b *testing.B, n, k int) sample {
	b.Helper()
	before := s.renew(n, k)
	s.forgetEvents()
	s.clear()
	begun := time.Now()
	s.write(b, before)
	return s.measure(begun, s.atRest(b))
}

// renew chooses n addresses, of which the last k are new, and returns those that
// there were.
func (s *side) renew(n, k int) (before []string) {
	before = s.addresses
	kept := slices.Clone(before[:min(max(n-k, 0), len(before))])
	for len(kept) < n {
		kept = append(kept, address(s.used))
		s.used++
	}
	s.addresses = kept
	return before
}

func (s *side) forgetEvents() {
	for len(s.wrote) > 0 {
		<-s.wrote
	}
}

// maxEndpoints is how many endpoints a slice holds (k8s.io/api/discovery/v1).
const maxEndpoints = 1000

// write updates the slices that change.
func (s *side) write(b *testing.B, before []string) {
	b.Helper()
	was := slices.Collect(slices.Chunk(before, maxEndpoints))
	for i, addresses := range slices.Collect(slices.Chunk(s.addresses, maxEndpoints)) {
		if i < len(was) && slices.Equal(was[i], addresses) {
			continue
		}
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.namespace, Name: fmt.Sprintf("%s-%d", service, i), Labels: map[string]string{discoveryv1.LabelServiceName: service},
			},
			AddressType: discoveryv1.AddressTypeIPv4,
			Ports:       []discoveryv1.EndpointPort{{Name: new(kube.ServicePortName), Port: new(int32(kube.TargetPort))}},
		}
		for _, a := range addresses {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
		}
		err := s.cluster.Client.Update(b.Context(), slice)
		if client.IgnoreNotFound(err) == nil && err != nil {
			err = s.cluster.Client.Create(b.Context(), slice)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// atEase is how long a controller has called nothing when it is done.
const atEase = 300 * time.Millisecond

// atRest waits until the group is right and no call has been made for a while.
func (s *side) atRest(b *testing.B) (calls []made) {
	b.Helper()
	want := s.targets()
	slices.Sort(want)
	s.until(b, want, func() bool {
		var quiet time.Duration
		calls, quiet = s.since()
		return quiet > atEase && len(calls) > 0
	})
	return calls
}

func (s *side) targets() []string {
	targets := make([]string, len(s.addresses))
	for i, a := range s.addresses {
		targets[i] = fmt.Sprintf("%s:%d", a, kube.TargetPort)
	}
	return targets
}

// until waits until the group has just these targets, and a condition holds.
func (s *side) until(b *testing.B, want []string, holds func() bool) {
	b.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for range time.Tick(20 * time.Millisecond) {
		if holds() && slices.Equal(s.sim.Registered(s.group), want) {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s: %d of %d targets are registered after 2 minutes", s.name, len(s.sim.Registered(s.group)), len(want))
		}
	}
}

func (s *side) measure(begun time.Time, calls []made) sample {
	event := <-s.wrote
	m := sample{delivered: event.Sub(begun), calls: map[string]int{}}
	for _, c := range calls {
		m.calls[c.kind]++
		m.bytes += c.bytes
		after := c.end.Sub(event)
		m.pass = max(m.pass, after)
		switch c.kind {
		case "RegisterTargets":
			m.registered = max(m.registered, after)
		case "DeregisterTargets":
			m.deregistered = max(m.deregistered, after)
		}
	}
	return m
}

func address(i int) string { return fmt.Sprintf("10.%d.%d.%d", i/40000, i/200%200, i%200+1) }
