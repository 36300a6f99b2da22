package readiness

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
)

// Served is a kind of bindings that this controller works on.
type Served struct {
	Kind kind.Kind
	Gate binding.Gate
}

// Reconciler sets the conditions of the Pods of one namespace at a time.
type Reconciler struct {
	client client.Client
	live   client.Reader
	served []Served
	clock  clock.PassiveClock

	board    *board
	listings *listings
	backoff  workqueue.TypedRateLimiter[string]
	wake     chan struct{} // closed once queue is set
	queue    queue
}

// New returns a Reconciler for the kinds.
func New(c client.Client, live client.Reader, served []Served, now clock.PassiveClock) *Reconciler {
	return &Reconciler{
		client: c, live: live, served: served, clock: now,
		board:    &board{all: map[place]posting{}},
		listings: &listings{now: now.Now, of: map[ownership.GroupARN]*listing{}},
		backoff:  workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstPoll, lastPoll),
		wake:     make(chan struct{}),
	}
}

// retrySoon is for what is known as soon as a cache has caught up.
const retrySoon = time.Second

// Reconcile looks at all Pods of a namespace that wait. With none it does
// nothing.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, client.InNamespace(req.Namespace), client.MatchingFields{byPending: isPending}); err != nil {
		return reconcile.Result{}, err
	}
	if len(pods.Items) == 0 {
		r.backoff.Forget(req.Namespace)
		return reconcile.Result{}, nil
	}
	bindings, err := r.bindings(ctx, r.client, req.Namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	n := &round{Reconciler: r, namespace: req.Namespace, bindings: bindings}
	var failed error
	for i := range pods.Items {
		failed = errors.Join(failed, n.pod(ctx, &pods.Items[i]))
	}
	if failed != nil {
		return reconcile.Result{}, failed
	}
	return n.next(), nil
}

// bindings are those of all kinds in a namespace.
func (r *Reconciler) bindings(ctx context.Context, reader client.Reader, namespace string) ([]Binding, error) {
	var kinds []kind.Kind
	for _, s := range r.served {
		kinds = append(kinds, s.Kind)
	}
	return bindingsOf(ctx, reader, kinds, namespace)
}

func bindingsOf(ctx context.Context, reader client.Reader, kinds []kind.Kind, namespace string) ([]Binding, error) {
	var all []Binding
	for _, k := range kinds {
		list := k.NewList()
		if err := reader.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		for _, o := range k.Items(list) {
			all = append(all, Binding{k, k.Binding(o)})
		}
	}
	return all, nil
}

// service is that of a binding; nil if the cache has none.
func (r *Reconciler) service(ctx context.Context, b Binding) (*corev1.Service, error) {
	service := &corev1.Service{}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.ServiceRef.Name}, service)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return service, err
}

// closed says whether a kind is not ours to speak for at present. A retired
// cluster registers nothing, which is known.
func (r *Reconciler) closed(k kind.Kind) bool {
	for _, s := range r.served {
		if s.Kind.Name == k.Name {
			err := s.Gate.Check()
			_, retired := errors.AsType[*cluster.RetiredError](err)
			return err != nil && !retired
		}
	}
	return true
}

// round is one look at a namespace.
type round struct {
	*Reconciler
	namespace string
	bindings  []Binding
	there     []Binding // as the API server has them
	looked    bool      // it has been asked

	asks, asked, progress, soon bool
}

// pod sets the conditions of one Pod.
func (n *round) pod(ctx context.Context, pod *corev1.Pod) error {
	verdicts := map[corev1.PodConditionType]verdict{}
	for _, t := range pending(pod) {
		v, err := n.gate(ctx, pod, t)
		if err != nil {
			return err
		}
		verdicts[t], n.asks = v, n.asks || v.ask
	}
	conditions := changed(pod, verdicts, n.clock.Now())
	if len(conditions) == 0 {
		return nil
	}
	err := patch(ctx, n.client, pod, conditions)
	switch {
	case apierrors.IsNotFound(err):
		return nil // it is gone
	case apierrors.IsConflict(err):
		n.soon = true // it has changed since, or is another Pod
		return nil
	case err != nil:
		return err
	}
	for _, c := range conditions {
		if c.Status == corev1.ConditionTrue {
			n.progress = true
			log.FromContext(ctx).Info("pod waits no longer", "pod", pod.Name, "condition", c.Type, "reason", c.Reason)
		}
	}
	return nil
}

// gate judges one condition of a Pod, with all bindings that have it.
func (n *round) gate(ctx context.Context, pod *corev1.Pod, t corev1.PodConditionType) (verdict, error) {
	if !n.serves(t) {
		return verdict{}, nil
	}
	found, v := false, verdict{status: corev1.ConditionTrue}
	for _, b := range n.bindings {
		service, err := n.service(ctx, b)
		if err != nil {
			return verdict{}, err
		}
		if !b.Has(t, service) {
			continue
		}
		of := n.ofBinding(ctx, b, service, pod)
		if v = both(v, of); !found {
			v, found = of, true
		}
	}
	if !found {
		return n.orphaned(ctx, t)
	}
	return v, nil
}

// serves reports whether a condition may be set by this controller.
func (r *Reconciler) serves(t corev1.PodConditionType) bool {
	for _, s := range r.served {
		if strings.HasPrefix(string(t), string(Gate(s.Kind, ""))) {
			return true
		}
	}
	_, _, _, old := legacy(t)
	return old
}

func (n *round) ofBinding(ctx context.Context, b Binding, service *corev1.Service, pod *corev1.Pod) verdict {
	if n.closed(b.Kind) {
		n.asks, n.asked = true, true // it may open without an event
		return verdict{}
	}
	post := n.board.get(b.Kind, client.ObjectKeyFromObject(b))
	v := judge(b, post.Outcome, service, pod)
	if !v.ask {
		return v
	}
	found, asked := n.listings.get(ctx, post.Groups, post.Group.ARN, post.since[pod.UID])
	n.asked = n.asked || asked
	if found == nil || errors.Is(found.err, context.Canceled) {
		return v
	}
	return ofHealth(found, ownership.Target(post.Waiting[pod.UID].Target))
}

// orphaned is for a condition that no binding has. The API server has to agree
// that there is none; the cache may be behind.
func (n *round) orphaned(ctx context.Context, t corev1.PodConditionType) (verdict, error) {
	for _, s := range n.served {
		if n.closed(s.Kind) {
			n.asks, n.asked = true, true
			return verdict{}, nil
		}
	}
	if !n.looked {
		there, err := n.Reconciler.bindings(ctx, n.live, n.namespace)
		if err != nil {
			return verdict{}, err
		}
		n.there, n.looked = there, true
	}
	for _, b := range n.there {
		service, err := n.service(ctx, b)
		if err != nil {
			return verdict{}, err
		}
		if b.Has(t, service) { // it comes to the cache
			n.soon = true
			return verdict{}, nil
		}
	}
	return open(reasonNoBinding, "no binding has this condition"), nil
}

// next says when the namespace is to be looked at without an event. Those who
// wait for anything but the load balancer come with the next pass over their
// binding.
func (n *round) next() reconcile.Result {
	if n.progress {
		n.backoff.Forget(n.namespace)
	}
	switch {
	case n.soon:
		return reconcile.Result{RequeueAfter: retrySoon}
	case !n.asks:
		return reconcile.Result{}
	case !n.asked:
		return reconcile.Result{RequeueAfter: firstPoll}
	default:
		wait := n.backoff.When(n.namespace)
		return reconcile.Result{RequeueAfter: wait + time.Duration(rand.Int64N(int64(wait)/10))}
	}
}
