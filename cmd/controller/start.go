package main

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership/dynamo"
)

// start runs the controller until ctx ends.
func start(ctx context.Context, s settings) error {
	awsConfig, err := loadAWS(ctx, &s)
	if err != nil {
		return err
	}
	kubernetes, err := kubernetesAPI(ctx)
	if err != nil {
		return err
	}
	mgr, err := newManager(s, kubernetes)
	if err != nil {
		return err
	}
	if err := controller.Setup(ctx, mgr, options(s, awsConfig, account(ctx, s, awsConfig))); err != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version, "clusterID", s.clusterID, "table", s.table, "region", s.region)
	return runManager(ctx, mgr)
}

func options(s settings, awsConfig aws.Config, account string) controller.Options {
	table := dynamodb.NewFromConfig(awsConfig, func(o *dynamodb.Options) {
		o.BaseEndpoint = awsconfig.Endpoint(s.dynamoDBEndpoint, o.BaseEndpoint)
		// Local engines send no checksum, and the SDK would log a warning for
		// each of their responses.
		o.DisableValidateResponseChecksum = s.dynamoDBEndpoint != ""
	})
	groups := elasticloadbalancingv2.NewFromConfig(awsConfig, func(o *elasticloadbalancingv2.Options) {
		o.BaseEndpoint = awsconfig.Endpoint(s.elbv2Endpoint, o.BaseEndpoint)
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
