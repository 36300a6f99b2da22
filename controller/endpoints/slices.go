package endpoints

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// search looks for the endpoints of one port of a Service in its slices.
type search struct {
	service *corev1.Service
	port    corev1.ServicePort
	family  string
	leaving func(*discoveryv1.Endpoint) bool
	waits   func(*corev1.ObjectReference) Waits // nil if no Pod waits
	see     func(found)                         // is told of each of them

	skipped []Skipped
	ending  map[types.UID]bool // pods that some slice says are terminating, and whether they serve still
	without []string           // slices with endpoints, but without the port
	with    int                // slices with the port
}

// found is what one slice says of an endpoint.
type found struct {
	endpoint
	port  int
	phase phase
	asks  bool // its Pod waits for the target
}

// phase is all of the state of an endpoint that matters. Of several Pods that
// have one address, or are on one node, the highest counts: an address that was
// given to another Pod is judged by that one.
type phase int

const (
	phaseGone    phase = iota // terminating, and serves no more
	phaseServing              // terminating, and serves still
	phaseUnready              // there, not ready and not terminating
	phaseLive                 // ready and not terminating
)

// slices goes through the endpoints. One is live if a slice says that it is
// ready and not terminating, where an unset condition means ready and not
// terminating (https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions).
//
// While an endpoint moves, two slices may have it. It is live if either says
// so, unless one says that the same Pod is terminating, which is never taken
// back. The address of a terminating Pod that was given to another Pod is live.
//
// A Service with publishNotReadyAddresses has its endpoints marked ready by
// Kubernetes, terminating ones as well; those leave nevertheless, since a load
// balancer takes seconds to stop sending to a target.
func (s *search) slices(all []discoveryv1.EndpointSlice) error {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })

	s.ending = terminating(all)
	addressType := discoveryv1.AddressTypeIPv4
	if s.family == familyIPv6 {
		addressType = discoveryv1.AddressTypeIPv6
	}
	if empty(all, addressType) {
		return nil
	}
	ofFamily, ofOther := 0, 0
	for i := range all {
		slice := &all[i]
		switch slice.AddressType {
		case addressType:
			ofFamily++
			if why := stale(slice, s.service); why != "" {
				return fmt.Errorf("endpoint slice %s is behind the service: %s", slice.Name, why)
			}
			s.slice(slice)
		case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
			ofOther++
		default:
			s.skip("endpoint slice "+slice.Name, fmt.Sprintf("its addresses are of type %s; targets need an IP address", slice.AddressType))
		}
	}
	if s.with == 0 && len(s.without) > 0 {
		return fmt.Errorf("endpoint slice %s has endpoints but not port %s; if it stays so, no Pod has the target port %q", s.without[0], describe(s.port), s.port.TargetPort.String())
	}
	if ofFamily == 0 && ofOther > 0 {
		s.skip("service "+client.ObjectKeyFromObject(s.service).String(), fmt.Sprintf("it has no %s endpoints, and the target group takes no others", addressType))
	}
	return nil
}

// slice tells of the endpoints of one slice. The port of a slice is found by
// the name of the Service's port; its number is the target port, resolved.
func (s *search) slice(slice *discoveryv1.EndpointSlice) {
	i := slices.IndexFunc(slice.Ports, func(p discoveryv1.EndpointPort) bool { return value(p.Name, "") == s.port.Name })
	if i < 0 {
		if len(slice.Endpoints) > 0 {
			s.without = append(s.without, slice.Name)
		}
		return
	}
	s.with++
	number := slice.Ports[i].Port
	if number == nil {
		s.skip("endpoint slice "+slice.Name, fmt.Sprintf("port %s has no number in it", describe(s.port)))
		return
	}
	for j := range slice.Endpoints {
		ep := observed(&slice.Endpoints[j])
		f := found{endpoint: ep, port: int(*number), phase: s.phase(&slice.Endpoints[j], ep)}
		s.see(s.awaited(f, &slice.Endpoints[j]))
	}
}

func (s *search) phase(listed *discoveryv1.Endpoint, ep endpoint) phase {
	serves, ending := s.ending[ep.pod]
	if !ending && (ep.terminating || s.leaving(listed)) {
		serves, ending = ep.serving, true
	}
	switch {
	case ending && serves:
		return phaseServing
	case ending:
		return phaseGone
	case ep.ready:
		return phaseLive
	default:
		return phaseUnready
	}
}

func (s *search) skip(name, reason string) { s.skipped = append(s.skipped, Skipped{name, reason}) }

// endpoint is all of an endpoint that decides whether it is wanted.
type endpoint struct {
	address     string
	ready       bool
	serving     bool
	terminating bool
	pod         types.UID // empty if it is not a Pod
	node        string    // empty if the slice does not say
}

// observed reads an endpoint. Only its first address has a meaning
// (https://kubernetes.io/docs/reference/kubernetes-api/discovery/endpoint-slice-v1/).
func observed(ep *discoveryv1.Endpoint) endpoint {
	o := endpoint{
		ready:       value(ep.Conditions.Ready, true),
		terminating: value(ep.Conditions.Terminating, false),
		node:        value(ep.NodeName, ""),
	}
	o.serving = value(ep.Conditions.Serving, o.ready)
	if len(ep.Addresses) > 0 {
		o.address = ep.Addresses[0]
	}
	if ep.TargetRef != nil {
		o.pod = ep.TargetRef.UID
	}
	return o
}

// terminating are the Pods that some slice says are terminating. They serve if
// all slices that say so agree on it.
func terminating(all []discoveryv1.EndpointSlice) map[types.UID]bool {
	ending := map[types.UID]bool{}
	for i := range all {
		for j := range all[i].Endpoints {
			if ep := observed(&all[i].Endpoints[j]); ep.terminating && ep.pod != "" {
				serves, known := ending[ep.pod]
				ending[ep.pod] = ep.serving && (serves || !known)
			}
		}
	}
	return ending
}

// empty reports whether the only slice of a family is the one that the
// EndpointSlice controller keeps for a Service without endpoints: it has no
// ports, and is behind nothing.
func empty(all []discoveryv1.EndpointSlice, family discoveryv1.AddressType) bool {
	var of []discoveryv1.EndpointSlice
	for _, slice := range all {
		if slice.AddressType == family {
			of = append(of, slice)
		}
	}
	return len(of) == 1 && len(of[0].Endpoints) == 0 && len(of[0].Ports) == 0
}

// stale says in what a slice differs from its Service, if the EndpointSlice
// controller wrote it. That controller gives every slice the Service's port
// names, and each numeric target port to every endpoint. When ports change it
// rewrites the slices one by one, and until the last of them, endpoints may be
// in none: without this, they would leave the group and come back.
func stale(slice *discoveryv1.EndpointSlice, service *corev1.Service) string {
	if slice.Labels[discoveryv1.LabelManagedBy] != sliceController {
		return ""
	}
	numbers := make(map[string]int32, len(slice.Ports))
	for _, p := range slice.Ports {
		name := value(p.Name, "")
		if !slices.ContainsFunc(service.Spec.Ports, func(sp corev1.ServicePort) bool { return sp.Name == name }) {
			return fmt.Sprintf("it has a port %q that the service does not have", name)
		}
		numbers[name] = value(p.Port, 0)
	}
	for _, p := range service.Spec.Ports {
		if fixed := p.TargetPort.IntVal; fixed != 0 && numbers[p.Name] != fixed {
			return fmt.Sprintf("it does not have port %s with target port %d", describe(p), fixed)
		}
	}
	return ""
}

// sliceController is how the EndpointSlice controller of Kubernetes signs.
const sliceController = "endpointslice-controller.k8s.io"

func value[T any](p *T, unset T) T {
	if p == nil {
		return unset
	}
	return *p
}
