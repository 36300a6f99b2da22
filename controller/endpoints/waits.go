package endpoints

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"target-ownership-controller/ownership"
)

// Waits is how a Pod waits for a condition that comes of its being a target.
type Waits struct {
	// Only says that nothing else keeps the Pod from being ready: it has to
	// become a target before it can be.
	Only bool
	// Ask says that the condition is still to come, so that the target of the
	// Pod is asked for.
	Ask bool
}

// awaited adds what the Pod says of an endpoint that its slice does not call
// ready, or calls so whatever its Pod says.
func (s *search) awaited(f found, listed *discoveryv1.Endpoint) found {
	if s.waits == nil || f.phase < phaseUnready || !isPod(listed.TargetRef) || f.ready && !s.service.Spec.PublishNotReadyAddresses {
		return f
	}
	w := s.waits(listed.TargetRef)
	if f.asks = w.Ask; w.Only {
		f.phase = phaseLive
	}
	return f
}

func isPod(ref *corev1.ObjectReference) bool { return ref != nil && ref.Kind == "Pod" }

// Waiting are the targets of Pods that wait for one.
type Waiting map[types.UID]ownership.Target
