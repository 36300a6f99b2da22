// Package bench measures the controller: passes at injected latencies, and
// what an idle process costs. It prints figures and asserts none.
package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/table"
)

const (
	targets   = 150
	namespace = "shop"
	service   = "web"
)

// BenchmarkReplaceOnePod has 150 targets in a shared group and replaces one
// pod: the time to its registration in the group, from before the
// EndpointSlice is written and from the event that tells the controller, with
// the calls that it took.
func BenchmarkReplaceOnePod(b *testing.B) {
	w := prepare(b)
	w.bind(b, service)
	w.sim.Intercept(func(elbsim.Call) elbsim.Fault { return elbsim.Fault{Latency: *elbLatency} })
	w.run(b)
	addresses := make([]string, targets)
	for i := range addresses {
		addresses[i] = address(i)
	}
	w.endpoints(b, addresses)
	w.registered(b, addresses[targets-1])

	next := targets
	var fromWrite, fromEvent []time.Duration
	b.ResetTimer()
	for b.Loop() {
		addresses = append(slices.Clone(addresses[1:]), address(next))
		next++
		w.sim.ClearJournal()
		begun := w.endpoints(b, addresses)
		registered := w.registered(b, addresses[targets-1])
		fromWrite = append(fromWrite, registered.Sub(begun))
		fromEvent = append(fromEvent, registered.Sub(w.arrived(b, addresses[targets-1])))
		w.settled(b)
	}
	b.StopTimer()
	report(b, "write-to-registered-ms", fromWrite)
	report(b, "event-to-registered-ms", fromEvent)
	b.ReportMetric(float64(w.sim.Count("", "RegisterTargets")), "RegisterTargets/op")
	b.ReportMetric(float64(w.sim.Count("", "DeregisterTargets")), "DeregisterTargets/op")
	b.ReportMetric(float64(w.sim.Count("", "DescribeTargetHealth")), "DescribeTargetHealth/op")
}

func report(b *testing.B, unit string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, unit+"-median")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, unit+"-p95")
}

func address(i int) string { return fmt.Sprintf("10.0.%d.%d", i/200, i%200+1) }

// run starts the controller as cmd/controller does, with the real SDK
// clients, and stops it when the benchmark ends.
func (w *world) run(b *testing.B) {
	b.Helper()
	mgr, err := ctrl.NewManager(w.cluster.Config, ctrl.Options{
		Scheme: scheme(b), Metrics: metricsserver.Options{BindAddress: "0"},
		// With -count each run has a controller of the same name.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		b.Fatal(err)
	}
	t := table.Start(b)
	client := dynamodb.NewFromConfig(t.Config, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: slow{http.DefaultTransport}}
	})
	limit := elb.Limit{PerSecond: 1000, Burst: 1000} // the limiter is not what is measured
	err = controller.Setup(b.Context(), mgr, controller.Options{
		Table:           dynamo.New(client, t.Name, dynamo.Options{}),
		Groups:          elb.New(w.sim.Client("bench"), elb.Options{Limits: elb.Limits{Reads: limit, Mutations: limit}}),
		ClusterID:       "bench",
		Version:         "bench",
		ComparePeriod:   time.Hour,
		HeartbeatPeriod: time.Minute,
		Workers:         10,
	})
	if err != nil {
		b.Fatal(err)
	}
	w.watchArrivals(b, mgr)
	w.start(b, mgr)
}

func (w *world) start(b *testing.B, mgr manager.Manager) {
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	b.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			b.Errorf("the controller ended with: %v", err)
		}
	})
}

// slow adds the latency of a table call.
type slow struct{ http.RoundTripper }

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(*tableLatency)
	return s.RoundTripper.RoundTrip(r)
}

// endpoints writes one slice and returns when the last write began: what the
// API server needs for it is part of the figures.
func (w *world) endpoints(b *testing.B, addresses []string) time.Time {
	b.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new(kube.ServicePortName), Port: new(int32(kube.TargetPort))}},
	}
	for _, a := range addresses {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
	}
	begun := time.Now()
	err := w.cluster.Client.Update(b.Context(), slice)
	if apierrors.IsNotFound(err) {
		begun = time.Now()
		err = w.cluster.Client.Create(b.Context(), slice)
	}
	if err != nil {
		b.Fatal(err)
	}
	return begun
}

// registered waits until the address is in the group and returns when the
// simulator had answered the call.
func (w *world) registered(b *testing.B, address string) time.Time {
	return w.until(b, "RegisterTargets", func(m elbsim.Mutation) bool {
		return slices.Contains(m.Call.Targets, fmt.Sprintf("%s:%d", address, kube.TargetPort))
	})
}

// settled waits until the replaced pod has been taken out.
func (w *world) settled(b *testing.B) {
	w.until(b, "DeregisterTargets", func(elbsim.Mutation) bool { return true })
}

func (w *world) until(b *testing.B, action string, match func(elbsim.Mutation) bool) time.Time {
	b.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case m := <-w.changes:
			if m.Call.Action == action && match(m) {
				return time.Now()
			}
		case <-timeout:
			b.Fatalf("no %s within a minute", action)
		}
	}
}
