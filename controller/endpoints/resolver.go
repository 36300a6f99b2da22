package endpoints

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/ownership"
)

// The target types and address families of a target group, as ELBv2 spells
// them (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_TargetGroup.html).
const (
	targetTypeIP       = "ip"
	targetTypeInstance = "instance"
	familyIPv6         = "ipv6"
)

// Query says whose endpoints are wanted, and as what.
type Query struct {
	Namespace   string
	ServiceName string
	ServicePort intstr.IntOrString // a string is the name of the port, an integer its number

	TargetType string // ip or instance
	Family     string // ipv4 or ipv6, ipv4 if empty; without effect on instances
	Protocol   string // of the group; chooses between a TCP and a UDP port of one number

	NodeSelector *metav1.LabelSelector // narrows the nodes; nil selects all
	Nodes        NodePolicy            // narrows them too; without effect on addresses

	// Held says whether the binding holds a target already, which decides about
	// those that stay although they are not ready. If nil, it holds none.
	Held func(ownership.Target) bool
	// Hold has terminating endpoints stay for a while; without effect on
	// instances.
	Hold Hold
	// Waits says how the Pod of an endpoint waits to become a target; without
	// effect on instances. If nil, none does.
	Waits func(*corev1.ObjectReference) Waits
	// Minimum says how many targets have to stay, of as many as there are. If
	// nil, there is no minimum.
	Minimum func(there int) int
}

func (q Query) holds(t ownership.Target) bool { return q.Held != nil && q.Held(t) }

func (q Query) service() types.NamespacedName {
	return types.NamespacedName{Namespace: q.Namespace, Name: q.ServiceName}
}

// Want is the answer to a Query. It depends on nothing but the query and what
// was read.
type Want struct {
	Targets ownership.Set
	Skipped []Skipped // sorted by name
	Waiting Waiting

	Kept  []ownership.Target // those of the targets that stay for the minimum alone
	Since Since              // for the next query
	Until time.Time          // when the first hold ends; zero if there is none
}

func newWant() Want {
	return Want{Targets: ownership.Set{}, Waiting: Waiting{}, Since: Since{}}
}

// Skipped is something that looks like a target and cannot be one. What is
// not ready, terminating or excluded by the user is no target and not listed.
type Skipped struct {
	Name   string // such as "node ip-10-0-0-1"
	Reason string
}

func (w *Want) skip(name, reason string) {
	w.Skipped = append(w.Skipped, Skipped{Name: name, Reason: reason})
}

func (w *Want) sort() {
	slices.SortFunc(w.Skipped, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason))
	})
	w.Skipped = slices.Compact(w.Skipped)
}

// Resolver answers queries from what Reader reads: a cache, or the API server.
type Resolver struct {
	Reader client.Reader
	// Nodes, if set, tells of nodes that shut down before the slices of their
	// Pods do. It should be a cache, since it is asked about every endpoint.
	Nodes client.Reader
}

// Want finds out what is wanted. Its errors are [ServiceNotFoundError],
// [PortNotFoundError], [WrongServiceTypeError], [InvalidNodeSelectorError]
// and [UnknownError], all by pointer. An error is not an empty answer.
func (r Resolver) Want(ctx context.Context, q Query) (Want, error) {
	service, err := r.service(ctx, q.service())
	if err != nil {
		return Want{}, err
	}
	if err := checkType(service, q.TargetType); err != nil {
		return Want{}, err
	}
	port, err := findPort(service, q.ServicePort, q.Protocol)
	if err != nil {
		return Want{}, err
	}
	if q.TargetType == targetTypeInstance {
		return r.instances(ctx, q, service, port)
	}
	return r.addresses(ctx, q, service, port)
}

// service reads the Service. Only the API server's own word that there is no
// such object counts as an absence; the bare 404 of something in between, a
// proxy or an API server without the resource, does not.
func (r Resolver) service(ctx context.Context, name types.NamespacedName) (*corev1.Service, error) {
	service := &corev1.Service{}
	err := r.Reader.Get(ctx, name, service)
	switch {
	case err == nil:
		return service, nil
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return nil, &ServiceNotFoundError{Service: name}
	default:
		return nil, &UnknownError{Service: name, Err: fmt.Errorf("get the service: %w", err)}
	}
}

func (r Resolver) addresses(ctx context.Context, q Query, service *corev1.Service, port corev1.ServicePort) (Want, error) {
	chosen := newAddresses(q)
	skipped, err := r.search(ctx, q, service, port, chosen.see)
	if err != nil {
		return Want{}, err
	}
	want := chosen.choose()
	want.Skipped = append(want.Skipped, skipped...)
	want.sort()
	return want, nil
}

// search goes through the endpoints of the Service.
func (r Resolver) search(ctx context.Context, q Query, service *corev1.Service, port corev1.ServicePort, see func(found)) ([]Skipped, error) {
	var list discoveryv1.EndpointSliceList
	err := r.list(ctx, &list, client.InNamespace(q.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: q.ServiceName})
	if err != nil {
		return nil, &UnknownError{Service: q.service(), Err: fmt.Errorf("list its endpoint slices: %w", err)}
	}
	s := search{
		service: service,
		port:    port,
		family:  q.Family,
		leaving: func(ep *discoveryv1.Endpoint) bool { return r.shutsDown(ctx, ep.NodeName) },
		see:     see,
	}
	if q.TargetType == targetTypeIP {
		s.waits = q.Waits
	}
	if err := s.slices(list.Items); err != nil {
		return nil, &UnknownError{Service: q.service(), Err: err}
	}
	return s.skipped, nil
}

func (r Resolver) instances(ctx context.Context, q Query, service *corev1.Service, port corev1.ServicePort) (Want, error) {
	if port.NodePort == 0 {
		return Want{}, &WrongServiceTypeError{
			Service: q.service(), TargetType: q.TargetType,
			Problem: fmt.Sprintf("port %s has no node port; set allocateLoadBalancerNodePorts to true or give it a nodePort", describe(port)),
		}
	}
	selector := labels.Everything()
	if q.NodeSelector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(q.NodeSelector); err != nil {
			return Want{}, &InvalidNodeSelectorError{Err: err}
		}
	}
	var list corev1.NodeList
	if err := r.list(ctx, &list, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return Want{}, &UnknownError{Service: q.service(), Err: fmt.Errorf("list nodes: %w", err)}
	}
	chosen, skipped := nodes{query: q, nodePort: int(port.NodePort)}, []Skipped(nil)
	if q.Nodes.local(service) {
		var err error
		chosen.local = &local{on: map[string]presence{}}
		if skipped, err = r.search(ctx, q, service, port, chosen.local.see); err != nil {
			return Want{}, err
		}
		skipped = append(skipped, chosen.local.skipped...)
	}
	want := chosen.choose(list.Items)
	want.Skipped = append(want.Skipped, skipped...)
	want.sort()
	return want, nil
}

// list reads everything there is. It sets no limit, so that the API server
// answers in one page; an answer that has a version, which those of a cache
// have not, and a token for the next page is a part.
func (r Resolver) list(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	// What is read here is only looked at, so the cache need not copy it.
	if err := r.Reader.List(ctx, list, append(opts, client.UnsafeDisableDeepCopy)...); err != nil {
		return err
	}
	if list.GetResourceVersion() != "" && list.GetContinue() != "" {
		return errors.New("the API server answered with a part of the list")
	}
	return nil
}
