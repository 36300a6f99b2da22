package readiness

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// verdict is what a condition of a Pod is to say. With no status it stays as
// it is.
type verdict struct {
	status  corev1.ConditionStatus
	reason  string
	message string
	probed  time.Time // when the load balancer was asked; zero if it was not
	ask     bool      // the load balancer is to be asked, or asked again
}

func open(reason, format string, args ...any) verdict {
	return verdict{status: corev1.ConditionTrue, reason: reason, message: fmt.Sprintf(format, args...)}
}

func shut(reason, format string, args ...any) verdict {
	return verdict{status: corev1.ConditionFalse, reason: reason, message: fmt.Sprintf(format, args...)}
}

// The reasons of conditions beyond those of bindings and of AWS.
const (
	reasonHealthy     = "Healthy"
	reasonNoBinding   = "NoBinding"
	reasonNotSelected = "NotSelected"
	reasonNoPods      = "TargetsAreNodes"
	reasonNoEndpoint  = "NoEndpoint"
	reasonNotListed   = "NotListed"
)

// nothingToWaitFor are the reasons of a binding that will register no Pod,
// where to wait would protect nothing: no traffic comes this way, or it is not
// to come to this cluster. With any other trouble the old Pods are still in the
// group, and the new ones wait.
var nothingToWaitFor = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonGroupNotFound:   true,
	v1beta1.ReasonServiceNotFound: true,
	v1beta1.ReasonClusterDrained:  true,
	v1beta1.ReasonClusterRetired:  true,
}

// judge finds out about a Pod what one binding says of it, before the load
// balancer is asked. The Service is nil if it is not known.
func judge(b Binding, o *binding.Outcome, service *corev1.Service, pod *corev1.Pod) verdict {
	switch {
	case !b.DeletionTimestamp.IsZero():
		return open(reasonNoBinding, "%s %s is being deleted", b.Kind.Name, b.Name)
	case service != nil && len(service.Spec.Selector) > 0 && !selects(service, pod.Labels):
		return open(reasonNotSelected, "Service %s does not select this Pod", service.Name)
	case o == nil || o.UID != b.UID:
		return shut(string(v1beta1.ReasonPending), "%s %s has not been worked on yet", b.Kind.Name, b.Name)
	case nothingToWaitFor[o.Reason]:
		return open(string(o.Reason), "%s", o.Message)
	case o.Group.TargetType == string(v1beta1.TargetTypeInstance):
		return open(reasonNoPods, "the targets of group %s are nodes", o.Group.Name)
	}
	standing, found := o.Waiting[pod.UID]
	switch {
	case found && standing.Registered:
		return verdict{ask: true}
	case found && standing.Reason == v1beta1.ReasonLimited:
		return open(string(standing.Reason), "%s", standing.Message)
	case found:
		return shut(string(standing.Reason), "%s", standing.Message)
	case o.Failed:
		return shut(string(o.Reason), "%s", o.Message)
	default:
		return shut(reasonNoEndpoint, "Service %s has no endpoint of this Pod that the group can take yet", b.Spec.ServiceRef.Name)
	}
}

// ofHealth judges what the load balancer says of the target of a Pod.
//
//	healthy                                  | True
//	unavailable, Target.HealthCheckDisabled  | True: there is no health to wait for
//	initial, unhealthy, draining             | False
//	unused: the group has no load balancer,  | False, as with the AWS Load Balancer
//	  or not in the zone of the Pod          |   Controller: no traffic reaches the Pod
//	unavailable for any other reason         | False
//	not listed                               | False
//
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetHealth.html)
func ofHealth(l *listing, target ownership.Target) verdict {
	if l.err != nil {
		return ofError(l.err)
	}
	h, listed := l.targets[target]
	v := shut(h.Reason, "%s", h.Description)
	switch {
	case !listed:
		v = shut(reasonNotListed, "the load balancer does not list %s yet", target)
	case h.State == elb.Healthy:
		v = open(reasonHealthy, "%s is healthy", target)
	case h.State == elb.Unavailable && h.Reason == healthCheckDisabled:
		v.status = corev1.ConditionTrue
	case h.Reason == "":
		v.reason = string(h.State)
	}
	v.ask, v.probed = v.status != corev1.ConditionTrue, l.began
	return v
}

const healthCheckDisabled = "Target.HealthCheckDisabled"

// ofError keeps a Pod waiting, in words that do not change with every attempt.
func ofError(err error) verdict {
	reason, class := v1beta1.ReasonLoadBalancerUnavailable, ownership.ErrGroupUnavailable
	switch {
	case errors.Is(err, ownership.ErrGroupMissing):
		return open(string(v1beta1.ReasonGroupNotFound), "%v", ownership.ErrGroupMissing)
	case errors.Is(err, ownership.ErrGroupThrottled):
		reason, class = v1beta1.ReasonThrottled, ownership.ErrGroupThrottled
	case errors.Is(err, ownership.ErrGroupForbidden):
		reason, class = v1beta1.ReasonAccessDenied, ownership.ErrGroupForbidden
	}
	v := shut(string(reason), "the health of the target is not known: %v", class)
	v.ask = true
	return v
}

// both is for a condition that several bindings share: it is True if each of
// them says so.
func both(a, b verdict) verdict {
	rank := map[corev1.ConditionStatus]int{corev1.ConditionTrue: 0, corev1.ConditionFalse: 1, "": 2}
	ask := a.ask || b.ask
	if rank[b.status] > rank[a.status] {
		a = b
	}
	a.ask = ask
	return a
}
