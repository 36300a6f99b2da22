package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/allow"
	"target-ownership-controller/controller/audit"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership/dynamo"
)

// start runs the controller until ctx ends.
func start(ctx context.Context, s settings) error {
	awsConfig, err := loadAWS(ctx, &s)
	if err != nil {
		return err
	}
	served, err := kinds(s.bindingKinds)
	if err != nil {
		return err
	}
	rules, err := allowedGroups(s.allowedGroups)
	if err != nil {
		return err
	}
	kubernetes, err := kubernetesAPI(ctx, served)
	if err != nil {
		return err
	}
	hooks, err := webhooks(s)
	if err != nil {
		return err
	}
	mgr, err := newManager(s, kubernetes, served, hooks)
	if err != nil {
		return err
	}
	traces, err := s.traces.start(ctx)
	if err != nil {
		return err
	}
	o := options(s, awsConfig, account(ctx, s, awsConfig))
	o.Kinds, o.Tracer, o.Allowed, o.Webhooks = served, traces.tracer(), rules, hooks
	if err := controller.Setup(ctx, mgr, o); err != nil {
		return err
	}
	defer flush(o.Trail, traces)
	if err := addWebView(ctx, mgr, s, awsConfig); err != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version, "clusterID", s.clusterID, "table", s.Table, "region", s.Region)
	return runManager(ctx, mgr, s)
}

// flushTimeout is how long the end may wait for history to be written and for
// traces to be sent.
const flushTimeout = 5 * time.Second

func flush(trail *audit.Trail, traces *traces) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() { traces.flush(ctx) })
	if trail != nil {
		trail.Flush(ctx)
	}
	both.Wait()
}

func options(s settings, awsConfig aws.Config, account string) controller.Options {
	table := dynamo.New(s.DynamoDB(awsConfig), s.Table, dynamo.Options{})
	groups := elb.New(s.ELBv2(awsConfig), elb.Options{Region: s.Region, Account: account, Limits: s.elbLimits})
	return controller.Options{
		Table:           table,
		Trail:           trail(s, table),
		Groups:          groups,
		Assume:          assume(s, awsConfig, groups),
		Account:         account,
		ClusterID:       s.clusterID,
		Version:         version,
		ComparePeriod:   s.comparePeriod,
		HeartbeatPeriod: s.heartbeatPeriod,
		Workers:         s.workers,
		FromAnnotations: s.fromAnnotations,
		ReadinessGates:  s.readinessGates,
		Leases:          leases(s.lbcLeases),
	}
}

func trail(s settings, table *dynamo.Table) *audit.Trail {
	if s.history == 0 {
		return nil
	}
	return audit.NewTrail(table, s.history)
}

// kinds are the kinds of bindings of these names.
func kinds(names []string) ([]kind.Kind, error) {
	var found []kind.Kind
	for _, name := range names {
		k, err := kind.Parse(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:len(found)], name) {
			return nil, fmt.Errorf("%s is named twice", name)
		}
		found = append(found, k)
	}
	if len(found) == 0 {
		return nil, errors.New("there has to be at least one kind")
	}
	return found, nil
}

// allowedGroups are the rules of the file; nil for no file.
func allowedGroups(file string) (*allow.File, error) {
	if file == "" {
		return nil, nil
	}
	rules, err := allow.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--allowed-groups: %w", err)
	}
	return rules, nil
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
