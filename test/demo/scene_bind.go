package demo

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/api/v1beta1"
)

// bind deploys the app in both clusters, starts the controllers and binds.
func (s *stage) bind(ctx context.Context) error {
	s.say("In each cluster: a Deployment %s/%s of %d pods, its Service, one controller, and a TargetGroupBinding "+
		"with multiClusterTargetGroup: true for the same group.", namespace, app, replicas)
	s.say("What a cluster owns is in its record in the table. \"held\": it wants the target in the group, and has registered it " +
		"or is about to. \"releasing\": it is taking the target out.")
	err := s.inBoth(func(site *site) error {
		if err := s.deploy(ctx, site); err != nil {
			return err
		}
		return site.cluster.Client.Create(ctx, s.binding())
	})
	if err != nil {
		return err
	}
	for _, site := range s.sites() {
		if err := s.runController(site); err != nil {
			return err
		}
		s.screen.progress("cluster %s: pods are ready, controller --cluster-id=%s is started (process %d)",
			site.name, site.name, site.controller.Pid)
	}
	if err := s.untilSettled(ctx); err != nil {
		return err
	}
	if err := s.show(ctx); err != nil {
		return err
	}
	return s.verify(s.union(ctx), s.ready(ctx, s.east), s.ready(ctx, s.west))
}

// inBoth does the same in both clusters at once.
func (s *stage) inBoth(do func(*site) error) error {
	errs := make([]error, len(s.sites()))
	var all sync.WaitGroup
	for i, site := range s.sites() {
		all.Go(func() { errs[i] = do(site) })
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("cluster %s: %w", s.sites()[i].name, err)
		}
	}
	return nil
}

// deploy runs the app. New pods come before old ones go, so that each rollout
// of the demo uses new addresses, and the group should never have fewer
// targets than before.
func (s *stage) deploy(ctx context.Context, site *site) error {
	if err := site.cluster.CreateNamespace(ctx, namespace); err != nil {
		return err
	}
	deployed, err := site.cluster.Deploy(ctx, namespace, app, replicas)
	if err != nil {
		return err
	}
	site.app = deployed
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app}}
	return site.cluster.Client.Patch(ctx, deployment, client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"100%","maxUnavailable":0}}}}`)))
}

func (s *stage) binding() *v1beta1.TargetGroupBinding {
	return &v1beta1.TargetGroupBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: app},
		Spec: v1beta1.TargetGroupBindingSpec{
			TargetGroupARN:          s.group.ARN,
			MultiClusterTargetGroup: true,
			ServiceRef:              v1beta1.ServiceReference{Name: app, Port: intstr.FromString("http")},
		},
	}
}

// ready checks what `kubectl get targetgroupbindings` shows.
func (s *stage) ready(ctx context.Context, site *site) check {
	what := fmt.Sprintf("%s's binding is Ready", site.name)
	err := s.until(ctx, what, func(ctx context.Context) (string, error) {
		condition, err := s.condition(ctx, site, v1beta1.ConditionReady)
		if err != nil || condition.Status == metav1.ConditionTrue {
			what += ": " + condition.Message
			return "", err
		}
		return "it says: " + condition.Message, nil
	})
	return expect(what, err)
}

func (s *stage) condition(ctx context.Context, site *site, kind v1beta1.ConditionType) (metav1.Condition, error) {
	binding := s.binding()
	if err := site.cluster.Client.Get(ctx, client.ObjectKeyFromObject(binding), binding); err != nil {
		return metav1.Condition{}, err
	}
	if found := meta.FindStatusCondition(binding.Status.Conditions, string(kind)); found != nil {
		return *found, nil
	}
	return metav1.Condition{Message: "no condition " + string(kind) + " yet"}, nil
}
