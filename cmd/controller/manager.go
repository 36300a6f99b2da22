package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/readiness"
	"target-ownership-controller/controller/webhook"
)

// The leader lease, and the events about it, are in one namespace. Other leases
// there are no concern of ours; only to create cannot be limited to a name
// (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
//
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=system,resources=leases,resourceNames=target-ownership-controller-leader,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=system,resources=events,verbs=create

// leaseID is the name of the leader lease.
const leaseID = "target-ownership-controller-leader"

// shutdownTimeout is for the calls that are under way, with their budget of 20 s.
// A pod has 30 s by default, which leaves some for the history and the lease.
const shutdownTimeout = 22 * time.Second

// podNamespace is where a pod finds the namespace that it runs in
// (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

func newManager(s settings, config *rest.Config, kinds []kind.Kind, hooks *webhook.Options) (manager.Manager, error) {
	if s.leaderElection && s.namespace == "" && !exists(podNamespace) {
		return nil, errors.New("--leader-election-namespace: outside a cluster name the namespace that holds the leader lease, such as default; or give --leader-elect=false if this is the only replica")
	}
	scheme := runtime.NewScheme()
	adds := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme}
	for _, k := range kinds {
		adds = append(adds, k.AddToScheme)
	}
	for _, add := range adds {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cacheOptions(s, hooks),
		Metrics:                       metricsserver.Options{BindAddress: s.metricsAddress},
		HealthProbeBindAddress:        s.probeAddress,
		LeaderElection:                s.leaderElection,
		LeaderElectionID:              leaseID,
		LeaderElectionNamespace:       s.namespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       new(shutdownTimeout),
	})
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", blameFlag(err, "--health-probe-bind-address"))
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", synced(mgr))
}

// cacheOptions keep in memory what is read of the objects, and of most Pods that
// is nearly nothing.
func cacheOptions(s settings, hooks *webhook.Options) cache.Options {
	o := cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: map[client.Object]cache.ByObject{}}
	if hooks != nil {
		maps.Copy(o.ByObject, hooks.Caches())
	}
	if s.readinessGates {
		o.ByObject[&corev1.Pod{}] = cache.ByObject{Transform: readiness.Strip}
	}
	return o
}

// runManager starts the manager and returns when it has ended.
//
// A manager that is told to end before its caches are filled never does
// (https://github.com/kubernetes-sigs/controller-runtime/pull/3440). Nothing
// has been reconciled by then, so there is nothing to wait for.
func runManager(ctx context.Context, mgr manager.Manager, s settings) error {
	filled := make(chan struct{})
	go func() {
		if mgr.GetCache().WaitForCacheSync(ctx) {
			close(filled)
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- s.blameServer(mgr.Start(ctx)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case <-filled:
		return <-ended
	default:
		return nil
	}
}

// blameFlag names the flag behind an address that cannot be listened on.
func blameFlag(err error, flag string) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "listen" {
		return fmt.Errorf("%s: %w; choose another address, or 0 for none", flag, err)
	}
	return err
}

// blameServer tells the two servers that the manager starts apart.
func (s *settings) blameServer(err error) error {
	op, ok := errors.AsType[*net.OpError](err)
	_, port, unset := net.SplitHostPort(s.webhookAddress)
	if ok && op.Addr != nil && unset == nil && strings.HasSuffix(op.Addr.String(), ":"+port) {
		return blameFlag(err, "--webhook-bind-address")
	}
	return blameFlag(err, "--metrics-bind-address")
}

// synced is ready once all watched kinds have been read: on a standby too,
// so that a change of leader does not wait for it.
func synced(mgr manager.Manager) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not synced yet")
		}
		return nil
	}
}
