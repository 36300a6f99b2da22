package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership/dynamo"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=system,resources=leases,verbs=get;create;update

// leaseID is the name of the leader lease.
const leaseID = "target-ownership-controller-leader"

// start runs the controller until ctx ends.
func start(ctx context.Context, s settings) error {
	awsConfig, err := loadAWS(ctx, &s)
	if err != nil {
		return err
	}
	mgr, err := newManager(s)
	if err != nil {
		return err
	}
	if err := assemble(ctx, mgr, s, awsConfig); err != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version, "clusterID", s.clusterID, "table", s.table, "region", s.region)
	return mgr.Start(ctx)
}

func loadAWS(ctx context.Context, s *settings) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithAppID("target-ownership-controller")}
	if s.region != "" {
		options = append(options, config.WithRegion(s.region))
	} else {
		options = append(options, config.WithEC2IMDSRegion())
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("read the AWS configuration: %w; without one on this machine give --region", err)
	}
	if c.Region == "" {
		return aws.Config{}, fmt.Errorf("--region: neither the flag nor AWS_REGION nor the AWS configuration names a region; give --region")
	}
	c.APIOptions = append(c.APIOptions, metrics.TimeCalls)
	s.region = c.Region
	return c, nil
}

func newManager(s settings) (manager.Manager, error) {
	kubeconfig, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the Kubernetes API: %w; run in a cluster, or set KUBECONFIG", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	mgr, err := ctrl.NewManager(kubeconfig, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:                       metricsserver.Options{BindAddress: s.metricsAddress},
		HealthProbeBindAddress:        s.probeAddress,
		LeaderElection:                s.leaderElection,
		LeaderElectionID:              leaseID,
		LeaderElectionNamespace:       s.namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", err)
	}
	kind := v1beta1.GroupVersion.WithKind("TargetGroupBinding")
	if _, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err != nil {
		return nil, fmt.Errorf("the CustomResourceDefinition of TargetGroupBinding is not installed in this cluster: %w; apply charts/target-ownership-controller/crds first", err)
	}
	return mgr, mgr.AddHealthzCheck("ping", healthz.Ping)
}

// assemble builds the parts and hands them to the manager.
func assemble(ctx context.Context, mgr manager.Manager, s settings, awsConfig aws.Config) error {
	store := dynamo.New(dynamodb.NewFromConfig(awsConfig, func(o *dynamodb.Options) {
		o.BaseEndpoint = endpoint(s.dynamoDBEndpoint)
	}), s.table, dynamo.Options{})
	groups := elb.New(elasticloadbalancingv2.NewFromConfig(awsConfig, func(o *elasticloadbalancingv2.Options) {
		o.BaseEndpoint = endpoint(s.elbv2Endpoint)
	}), elb.Options{Region: s.region})

	gate := cluster.NewGate()
	changed := gate.Watch()
	bindings := binding.New(binding.Reconciler{
		Client: mgr.GetClient(),
		Live:   mgr.GetAPIReader(),
		Groups: groups,
		Store:  store,
		Gate:   gate,
		Events: mgr.GetEventRecorder("target-ownership-controller"),
		Clock:  clock.RealClock{},
		NewID:  uuid.NewString,
		Options: binding.Options{
			ClusterID: s.clusterID, Region: s.region, Version: version, ComparePeriod: s.comparePeriod,
		},
	})
	if err := bindings.SetupWithManager(ctx, mgr, s.workers, changed); err != nil {
		return fmt.Errorf("set up the reconciler: %w", err)
	}
	for _, runnable := range []manager.Runnable{
		cluster.NewLoadBalancerControllerGuard(mgr.GetAPIReader(), gate, leases(s.lbcLeases)...),
		cluster.NewHeartbeat(cluster.HeartbeatConfig{
			Live: mgr.GetAPIReader(), Registry: store, Gate: gate,
			ClusterID: s.clusterID, ControllerVersion: version, Interval: s.heartbeatPeriod,
			NewID: uuid.NewString, Random: rand.Float64,
		}),
		&binding.Orphans{Reconciler: bindings, Period: s.comparePeriod},
	} {
		if err := mgr.Add(runnable); err != nil {
			return err
		}
	}
	return mgr.AddReadyzCheck("caches", synced(mgr))
}

func endpoint(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

func leases(names []string) []types.NamespacedName {
	var leases []types.NamespacedName
	for _, s := range names {
		if namespace, name, ok := strings.Cut(s, "/"); ok {
			leases = append(leases, types.NamespacedName{Namespace: namespace, Name: name})
		} else {
			leases = append(leases, types.NamespacedName{Name: s})
		}
	}
	return leases
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
