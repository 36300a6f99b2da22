package soak

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/kube"
)

const (
	region    = "eu-west-1"
	namespace = "shop"
	web       = "web"    // a Deployment that rolls
	moving    = "moving" // pods at addresses that move from cluster to cluster
)

var apps = []string{web, moving}

// start brings everything up, and lets the controllers bring the group to
// what it should be.
func (s *soak) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.startServices, s.startClusters, s.startControllers} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := until(ctx, "the group to become what the clusters want", settlePatience, s.wrongGroup); err != nil {
		return err
	}
	s.screen.say("3 clusters, %d bindings and one target group with %d targets, %d of them put in by hand",
		len(s.owners()), len(s.lb.registered()), s.external.Len())
	return nil
}

// startServices starts the table, the load balancer, and the ways to them.
func (s *soak) startServices(ctx context.Context) (err error) {
	if s.table, err = startTable(ctx); err != nil {
		return err
	}
	s.onClose(s.table.close)
	if s.lb, err = startLoadBalancer(s.external.UnsortedList()); err != nil {
		return err
	}
	s.onClose(func() error { s.lb.Close(); return nil })
	s.lb.Observe(s.guard.observe)
	for _, at := range s.sites {
		if at.table, err = newLink(at.name+"-table", s.table.front.URL); err != nil {
			return err
		}
		if at.elb, err = newLink(at.name+"-elb", s.lb.URL()); err != nil {
			return err
		}
		s.onClose(func() error { at.table.cut(); at.elb.cut(); return nil })
	}
	return nil
}

// startClusters starts all at once, with their apps and bindings.
func (s *soak) startClusters(ctx context.Context) error {
	s.screen.say("etcd, kube-apiserver, controller-manager, scheduler and kwok of %d clusters start", len(s.sites))
	errs := make([]error, len(s.sites))
	var all sync.WaitGroup
	for i, at := range s.sites {
		all.Go(func() { errs[i] = s.startCluster(ctx, at) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (s *soak) startCluster(ctx context.Context, at *site) error {
	scheme := runtime.NewScheme()
	// Both only fail on a programming error in the types, which panics.
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1beta1.AddToScheme(scheme)
	cluster, err := kube.Start(ctx, kube.Options{
		Name: at.name, Full: true, PodCIDR: at.podCIDR, Scheme: scheme,
		CRDPaths: []string{filepath.Join(s.options.Charts, "target-ownership-controller", "files", "crds")},
	})
	if err != nil {
		return err
	}
	at.cluster = cluster
	s.onClose(cluster.Stop)
	if err := s.deploy(ctx, at); err != nil {
		return fmt.Errorf("cluster %s: %w", at.name, err)
	}
	s.screen.say("%s: pods are ready", at.name)
	return nil
}

// deploy runs the apps. New pods of a rollout come before old ones go, so
// that the group should never have fewer targets than before, and take
// addresses that were freed a rollout ago.
func (s *soak) deploy(ctx context.Context, at *site) (err error) {
	if err := at.cluster.CreateNamespace(ctx, namespace); err != nil {
		return err
	}
	if at.web, err = at.cluster.Deploy(ctx, namespace, web, fewestReplicas); err != nil {
		return err
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: web}}
	err = at.cluster.Client.Patch(ctx, deployment, client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"100%","maxUnavailable":0}}}}`)))
	if err != nil {
		return err
	}
	if at.moving, err = at.cluster.Deploy(ctx, namespace, moving, 0); err != nil {
		return err
	}
	if _, err := at.moving.RunPodAt(ctx, at.steady); err != nil {
		return err
	}
	for _, app := range apps {
		if err := at.cluster.Client.Create(ctx, s.binding(app)); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) binding(app string) *v1beta1.TargetGroupBinding {
	return &v1beta1.TargetGroupBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app},
		Spec: v1beta1.TargetGroupBindingSpec{
			TargetGroupARN:          s.lb.group.ARN,
			MultiClusterTargetGroup: true,
			ServiceRef:              v1beta1.ServiceReference{Name: app, Port: intstr.FromString(kube.ServicePortName)},
		},
	}
}

func (s *soak) startControllers(context.Context) error {
	for _, at := range s.sites {
		s.onClose(at.kill)
		if err := s.runController(at); err != nil {
			return err
		}
	}
	return nil
}
