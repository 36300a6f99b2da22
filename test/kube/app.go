package kube

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// ServicePort and ServicePortName are the port of an App's Service,
	// TargetPort is where its pods listen.
	ServicePort     = 80
	ServicePortName = "http"
	TargetPort      = 8080

	appLabel = "app"
)

// App is a Deployment and a Service of the same name. Its methods wait, so
// that the next line of a test sees their effect.
type App struct {
	Namespace, Name string

	cluster *Cluster
}

// CreateNamespace creates a namespace.
func (c *Cluster) CreateNamespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Client.Create(ctx, namespace); err != nil {
		return fmt.Errorf("cluster %s: create namespace: %w", c.Name, err)
	}
	return nil
}

// Deploy creates a Deployment and its Service and waits until all replicas
// are ready and in EndpointSlices. Full clusters only.
func (c *Cluster) Deploy(ctx context.Context, namespace, name string, replicas int32) (*App, error) {
	app := &App{Namespace: namespace, Name: name, cluster: c}
	for _, object := range []client.Object{app.service(), app.deployment(replicas)} {
		if err := c.Client.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("cluster %s: deploy: %w", c.Name, err)
		}
	}
	return app, app.WaitUntilSettled(ctx)
}

// Scale changes the number of replicas and waits until the app has settled.
func (a *App) Scale(ctx context.Context, replicas int32) error {
	return a.change(ctx, func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas })
}

// Restart replaces all pods as `kubectl rollout restart` does, a few at a
// time, and waits until the app has settled.
func (a *App) Restart(ctx context.Context) error {
	return a.change(ctx, func(d *appsv1.Deployment) {
		now := time.Now().Format(time.RFC3339Nano)
		metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", now)
	})
}

func (a *App) change(ctx context.Context, mutate func(*appsv1.Deployment)) error {
	deployment := a.deployment(0)
	if err := a.cluster.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
		return a.failed("read", err)
	}
	before := client.MergeFrom(deployment.DeepCopy())
	mutate(deployment)
	if err := a.cluster.Client.Patch(ctx, deployment, before); err != nil {
		return a.failed("change", err)
	}
	return a.WaitUntilSettled(ctx)
}

// Delete deletes the Service and the Deployment and waits until the slices
// and pods are gone.
func (a *App) Delete(ctx context.Context) error {
	for _, object := range []client.Object{a.service(), a.deployment(0)} {
		if err := a.cluster.Client.Delete(ctx, object); err != nil {
			return a.failed("delete", err)
		}
	}
	// No kubelet, not even kwok's, ends the pods of RunPodAt.
	err := a.cluster.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(a.Namespace), client.MatchingLabels(a.labels()),
		client.MatchingFields{"spec.nodeName": a.cluster.manualNodeName()}, client.GracePeriodSeconds(0))
	if err != nil {
		return a.failed("delete pods of", err)
	}
	if err := a.waitUntilNone(ctx, &discoveryv1.EndpointSliceList{}, a.slicesOf()...); err != nil {
		return err
	}
	return a.waitUntilNone(ctx, &corev1.PodList{}, a.podsOf()...)
}

// WaitUntilSettled waits until the rollout is complete, old pods are gone,
// and the slices hold exactly the ready pods.
func (a *App) WaitUntilSettled(ctx context.Context) error {
	inNamespace := client.InNamespace(a.Namespace)
	if err := a.cluster.Until(ctx, &appsv1.DeploymentList{}, a.rolledOut, inNamespace); err != nil {
		return err
	}
	return a.cluster.Until(ctx, &discoveryv1.EndpointSliceList{}, a.slicesMatchPods, a.slicesOf()...)
}

func (a *App) rolledOut(ctx context.Context) (bool, string, error) {
	deployment := a.deployment(0)
	if err := a.cluster.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
		return false, "", err
	}
	want, status := *deployment.Spec.Replicas, deployment.Status
	done := status.ObservedGeneration >= deployment.Generation &&
		status.UpdatedReplicas == want && status.AvailableReplicas == want && status.Replicas == want
	progress := fmt.Sprintf("deployment %s/%s: %d wanted, %d there, %d of the newest template, %d available",
		a.Namespace, a.Name, want, status.Replicas, status.UpdatedReplicas, status.AvailableReplicas)
	return done, progress, nil
}

func (a *App) slicesMatchPods(ctx context.Context) (bool, string, error) {
	pods, err := a.readyPodAddresses(ctx)
	if err != nil {
		return false, "", err
	}
	endpoints, err := a.Addresses(ctx)
	if err != nil {
		return false, "", err
	}
	progress := fmt.Sprintf("service %s/%s: slices hold %d ready addresses for %d ready pods",
		a.Namespace, a.Name, len(endpoints), len(pods))
	return slices.Equal(pods, endpoints), progress, nil
}

func (a *App) waitUntilNone(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return a.cluster.Until(ctx, list, func(ctx context.Context) (bool, string, error) {
		if err := a.cluster.Client.List(ctx, list, options...); err != nil {
			return false, "", err
		}
		left := meta.LenList(list)
		return left == 0, fmt.Sprintf("%d of %T left in %s/%s", left, list, a.Namespace, a.Name), nil
	}, options...)
}

func (a *App) failed(verb string, err error) error {
	return fmt.Errorf("cluster %s: %s app %s/%s: %w", a.cluster.Name, verb, a.Namespace, a.Name, err)
}

func (a *App) labels() map[string]string { return map[string]string{appLabel: a.Name} }

func (a *App) service() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name, Labels: a.labels()},
		Spec: corev1.ServiceSpec{
			Selector: a.labels(),
			Ports: []corev1.ServicePort{{
				Name: ServicePortName, Port: ServicePort, TargetPort: intstr.FromInt32(TargetPort),
			}},
		},
	}
}

func (a *App) deployment(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name, Labels: a.labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: a.labels()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: a.labels()},
				Spec:       podSpec(),
			},
		},
	}
}

// podSpec has an image that nobody pulls: no pod of a cluster runs anything.
func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:  "app",
			Image: "app.invalid/app:1",
			Ports: []corev1.ContainerPort{{Name: ServicePortName, ContainerPort: TargetPort}},
		}},
	}
}
