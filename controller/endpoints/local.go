package endpoints

import (
	corev1 "k8s.io/api/core/v1"
)

// NodePolicy says which nodes can be targets.
type NodePolicy string

const (
	// NodesByService is as the externalTrafficPolicy of the Service says.
	NodesByService NodePolicy = ""
	// NodesAll are all nodes that are fit for traffic.
	NodesAll NodePolicy = "All"
	// NodesLocal are those with a ready endpoint of the Service.
	NodesLocal NodePolicy = "Local"
)

// local reports whether only nodes with an endpoint are wanted. With an
// externalTrafficPolicy of Local, kube-proxy drops what arrives at any other
// node (https://kubernetes.io/docs/reference/networking/virtual-ips/#external-traffic-policy).
func (p NodePolicy) local(service *corev1.Service) bool {
	if p == NodesByService {
		return service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
	}
	return p == NodesLocal
}

// presence is of endpoints of the Service on a node.
type presence int

const (
	absent          presence = iota // none, or terminating ones only
	somewhere                       // an endpoint that names no node may be on this one
	endpointUnready                 // there, not ready and not terminating
	endpointReady
)

// local is where the endpoints are.
type local struct {
	on      map[string]presence
	unnamed bool // a ready one names no node
	skipped []Skipped
}

func (l *local) see(f found) {
	switch {
	case f.node == "" && f.phase == phaseLive:
		l.unnamed = true
		l.skipped = append(l.skipped, Skipped{"endpoint " + f.address,
			"its slice names no node, so that no node is registered for it and none leaves; correct the slice, or have all nodes registered"})
	case f.phase == phaseLive:
		l.on[f.node] = endpointReady
	case f.phase == phaseUnready:
		l.on[f.node] = max(l.on[f.node], endpointUnready)
	}
}

// presence on a node, which is as good as a ready endpoint if it does not
// matter.
func (l *local) presence(node string) presence {
	switch {
	case l == nil:
		return endpointReady
	case l.on[node] == absent && l.unnamed:
		return somewhere
	default:
		return l.on[node]
	}
}

// decide is the truth table of nodes. Where endpoints do not matter, it is
// that of a node with a ready one.
//
//	node                    | endpoints on it | not held | held
//	ready                   | ready           | in       | in
//	ready                   | not ready       | out      | spare
//	ready                   | somewhere       | out      | in
//	not ready               | any of these    | out      | in
//	given up                | any of these    | out      | spare
//	ready, not, or given up | absent          | out      | out
//	unfit, or excluded      | any             | out      | out
//
// The node lifecycle controller marks the Pods of a node not ready as soon as
// the node is not ready (MarkPodsNotReady, in pkg/controller/nodelifecycle of
// kubernetes/kubernetes), so that the endpoints there say nothing more.
func decide(node fitness, on presence, held bool) decision {
	switch {
	case node == fit && on == endpointReady:
		return in
	case !held || on == absent || node < givenUp:
		return out
	case node == givenUp, node == fit && on == endpointUnready:
		return spare
	default:
		return in
	}
}
