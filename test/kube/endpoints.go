package kube

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Addresses returns the ready addresses in the slices of the app's Service,
// sorted as text, each once.
func (a *App) Addresses(ctx context.Context) ([]string, error) {
	return a.cluster.Addresses(ctx, a.Namespace, a.Name)
}

// Addresses returns the ready addresses in the slices of a Service, sorted
// as text, each once.
func (c *Cluster) Addresses(ctx context.Context, namespace, service string) ([]string, error) {
	list := &discoveryv1.EndpointSliceList{}
	if err := c.Client.List(ctx, list, slicesOf(namespace, service)...); err != nil {
		return nil, fmt.Errorf("cluster %s: list slices of %s/%s: %w", c.Name, namespace, service, err)
	}
	var addresses []string
	for _, slice := range list.Items {
		for _, endpoint := range slice.Endpoints {
			// Absent means ready (discovery.k8s.io/v1, EndpointConditions).
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				addresses = append(addresses, endpoint.Addresses...)
			}
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses), nil
}

// SetEndpoints makes the given addresses the ready endpoints of a Service,
// on TargetPort, in one slice per address family. It is for light clusters,
// where no controller writes slices.
func (c *Cluster) SetEndpoints(ctx context.Context, namespace, service string, addresses ...string) error {
	byFamily := map[discoveryv1.AddressType][]discoveryv1.Endpoint{
		discoveryv1.AddressTypeIPv4: nil, discoveryv1.AddressTypeIPv6: nil,
	}
	for _, address := range addresses {
		parsed, err := netip.ParseAddr(address)
		if err != nil {
			return fmt.Errorf("cluster %s: endpoints of %s/%s: %w", c.Name, namespace, service, err)
		}
		family := discoveryv1.AddressTypeIPv6
		if parsed.Is4() {
			family = discoveryv1.AddressTypeIPv4
		}
		byFamily[family] = append(byFamily[family], discoveryv1.Endpoint{
			Addresses:  []string{address},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
		})
	}
	for family, endpoints := range byFamily {
		slice := handWrittenSlice(namespace, service, family)
		slice.Endpoints = endpoints
		if err := c.createOrUpdate(ctx, slice); err != nil {
			return fmt.Errorf("cluster %s: endpoints of %s/%s: %w", c.Name, namespace, service, err)
		}
	}
	return nil
}

func handWrittenSlice(namespace, service string, family discoveryv1.AddressType) *discoveryv1.EndpointSlice {
	suffix := map[discoveryv1.AddressType]string{
		discoveryv1.AddressTypeIPv4: "-ipv4", discoveryv1.AddressTypeIPv6: "-ipv6",
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      service + suffix[family],
			Labels:    map[string]string{discoveryv1.LabelServiceName: service},
		},
		AddressType: family,
		Ports: []discoveryv1.EndpointPort{{
			Name: new(ServicePortName), Port: new(int32(TargetPort)), Protocol: new(corev1.ProtocolTCP),
		}},
	}
}

func (c *Cluster) createOrUpdate(ctx context.Context, slice *discoveryv1.EndpointSlice) error {
	err := c.Client.Create(ctx, slice.DeepCopy())
	if apierrors.IsAlreadyExists(err) {
		return c.Client.Update(ctx, slice)
	}
	return err
}

// readyPodAddresses returns what the slices should hold, sorted as text.
func (a *App) readyPodAddresses(ctx context.Context) ([]string, error) {
	pods := &corev1.PodList{}
	if err := a.cluster.Client.List(ctx, pods, a.podsOf()...); err != nil {
		return nil, a.failed("list pods of", err)
	}
	var addresses []string
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil && podReady(&pod) {
			addresses = append(addresses, pod.Status.PodIP)
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses), nil
}

func podReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func slicesOf(namespace, service string) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: service},
	}
}

func (a *App) slicesOf() []client.ListOption { return slicesOf(a.Namespace, a.Name) }

func (a *App) podsOf() []client.ListOption {
	return []client.ListOption{client.InNamespace(a.Namespace), client.MatchingLabels(a.labels())}
}
