package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/api/v1beta1"
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
	if err := controller.Setup(ctx, mgr, options(s, awsConfig, account(ctx, s, awsConfig))); err != nil {
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
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", synced(mgr))
}

func options(s settings, awsConfig aws.Config, account string) controller.Options {
	table := dynamodb.NewFromConfig(awsConfig, func(o *dynamodb.Options) {
		o.BaseEndpoint = endpoint(s.dynamoDBEndpoint, o.BaseEndpoint)
		// Local engines send no checksum, and the SDK would log a warning for
		// each of their responses.
		o.DisableValidateResponseChecksum = s.dynamoDBEndpoint != ""
	})
	groups := elasticloadbalancingv2.NewFromConfig(awsConfig, func(o *elasticloadbalancingv2.Options) {
		o.BaseEndpoint = endpoint(s.elbv2Endpoint, o.BaseEndpoint)
	})
	return controller.Options{
		Table:           dynamo.New(table, s.table, dynamo.Options{}),
		Groups:          elb.New(groups, elb.Options{Region: s.region, Account: account, Limits: s.elbLimits}),
		ClusterID:       s.clusterID,
		Version:         version,
		ComparePeriod:   s.comparePeriod,
		HeartbeatPeriod: s.heartbeatPeriod,
		Workers:         s.workers,
		Leases:          leases(s.lbcLeases),
	}
}

// endpoint is the URL of a flag, or else that of the AWS configuration: nil,
// or the likes of AWS_ENDPOINT_URL.
func endpoint(flag string, configured *string) *string {
	if flag == "" {
		return configured
	}
	return &flag
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
