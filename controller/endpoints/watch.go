package endpoints

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// ServiceOf names the Service that an EndpointSlice belongs to. Name is empty
// if it belongs to none.
func ServiceOf(slice client.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: slice.GetNamespace(), Name: slice.GetLabels()[discoveryv1.LabelServiceName]}
}

// ServiceChanged lets through the updates of Services that can change what is
// wanted: those of its type, its ports and its external traffic policy.
func ServiceChanged() predicate.Predicate {
	return onUpdate(func(before, after *corev1.Service) bool {
		return before.Spec.Type != after.Spec.Type ||
			before.Spec.ExternalTrafficPolicy != after.Spec.ExternalTrafficPolicy ||
			!equality.Semantic.DeepEqual(before.Spec.Ports, after.Spec.Ports)
	})
}

// SliceChanged lets through the updates of EndpointSlices that can change what
// is wanted: those of the Service they belong to, of ports, and of the address,
// state and node of endpoints. Hints, zones and trigger times cannot.
func SliceChanged() predicate.Predicate {
	return onUpdate(func(before, after *discoveryv1.EndpointSlice) bool {
		return ServiceOf(before) != ServiceOf(after) ||
			before.Labels[discoveryv1.LabelManagedBy] != after.Labels[discoveryv1.LabelManagedBy] ||
			!slices.EqualFunc(before.Ports, after.Ports, samePort) ||
			!slices.EqualFunc(before.Endpoints, after.Endpoints, sameEndpoint)
	})
}

func samePort(a, b discoveryv1.EndpointPort) bool {
	return value(a.Name, "") == value(b.Name, "") && value(a.Port, 0) == value(b.Port, 0)
}

func sameEndpoint(a, b discoveryv1.Endpoint) bool { return observed(&a) == observed(&b) }

// NodeChanged lets through the updates of nodes that can change what is
// wanted: a different verdict on the node, other labels, or a shutdown.
// Heartbeats, images and capacity cannot.
func NodeChanged() predicate.Predicate {
	return onUpdate(func(before, after *corev1.Node) bool {
		return judge(before) != judge(after) ||
			!maps.Equal(before.Labels, after.Labels) ||
			ShuttingDown(before) != ShuttingDown(after)
	})
}

// onUpdate lets through every event but the updates that did not change
// anything. An update of another kind of object passes.
func onUpdate[T client.Object](changed func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, ok2 := e.ObjectNew.(T)
		return !ok || !ok2 || changed(before, after)
	}}
}
