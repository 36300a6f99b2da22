package managed

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/kind"
)

// Gate says whether this cluster may work on bindings of the kind.
type Gate interface{ Check() error }

// Options are what Setup works with.
type Options struct {
	Client client.Client
	Live   client.Reader // reads around the caches
	Kind   kind.Kind     // of the bindings to make
	Gate   Gate
	Events events.EventRecorder
}

// Reconciler makes the bindings of Services or of Ingresses.
type Reconciler struct {
	Options
	of   owners
	told told
}

// owners are a kind of objects whose annotations name target groups.
type owners struct {
	gvk     schema.GroupVersionKind
	empty   func() client.Object
	list    func() client.ObjectList
	request func(context.Context, client.Reader, client.Object) (Request, error)
}

var services = owners{
	gvk:   corev1.SchemeGroupVersion.WithKind("Service"),
	empty: func() client.Object { return &corev1.Service{} },
	list:  func() client.ObjectList { return &corev1.ServiceList{} },
	request: func(_ context.Context, _ client.Reader, o client.Object) (Request, error) {
		return OfService(o.(*corev1.Service)), nil
	},
}

var ingresses = owners{
	gvk:     networkingv1.SchemeGroupVersion.WithKind("Ingress"),
	empty:   func() client.Object { return &networkingv1.Ingress{} },
	list:    func() client.ObjectList { return &networkingv1.IngressList{} },
	request: requestOfIngress,
}

// newReconciler returns a Reconciler that has told nothing yet.
func newReconciler(o Options, of owners) *Reconciler {
	return &Reconciler{Options: o, of: of, told: told{all: map[client.ObjectKey][]Problem{}}}
}

// Waits between two tries, where no event tells when.
const (
	untilCaught  = 200 * time.Millisecond // up with what others, or we, have written
	untilOpen    = time.Second
	untilAllowed = 30 * time.Second
)

// Reconcile makes one pass over a Service or an Ingress. Of one that is gone,
// Kubernetes collects the bindings.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	owner := r.of.empty()
	if err := r.Client.Get(ctx, req.NamespacedName, owner); err != nil {
		if apierrors.IsNotFound(err) {
			r.told.replace(req.NamespacedName, nil)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	request, err := r.of.request(ctx, r.Client, owner)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.Gate.Check(); err != nil {
		r.report(owner, closed(request, err))
		return reconcile.Result{RequeueAfter: untilOpen}, nil
	}
	problems, err := r.apply(ctx, owner, request)
	r.report(owner, problems)
	switch {
	case errors.Is(err, errBehind), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return reconcile.Result{RequeueAfter: untilCaught}, nil
	case refused(err):
		return reconcile.Result{RequeueAfter: untilAllowed}, nil
	default:
		return reconcile.Result{}, err
	}
}

// closed adds to the problems why nothing is done about the rest, unless that
// passes by itself or is told elsewhere.
func closed(request Request, err error) []Problem {
	if lbc := (*cluster.LoadBalancerControllerError)(nil); len(request.Bindings) > 0 && errors.As(err, &lbc) {
		return append(request.Problems, Problem{Reason: ReasonLoadBalancerControllerActive, Message: err.Error()})
	}
	return request.Problems
}

// requestOfIngress reads what an Ingress refers to.
func requestOfIngress(ctx context.Context, reader client.Reader, o client.Object) (Request, error) {
	i := o.(*networkingv1.Ingress)
	if groupsText(i) == "" {
		return Request{}, nil
	}
	class := &networkingv1.IngressClass{}
	if name := classOf(i); name == "" {
		class = nil
	} else if found, err := read(ctx, reader, client.ObjectKey{Name: name}, class); err != nil {
		return Request{}, err
	} else if !found {
		class = nil
	}
	services := map[string]*corev1.Service{}
	for _, b := range backendsOf(i) {
		service := &corev1.Service{}
		found, err := read(ctx, reader, client.ObjectKey{Namespace: i.Namespace, Name: b.service}, service)
		if err != nil {
			return Request{}, err
		}
		if found {
			services[b.service] = service
		}
	}
	return OfIngress(i, class, services), nil
}

func read(ctx context.Context, reader client.Reader, key client.ObjectKey, into client.Object) (bool, error) {
	err := reader.Get(ctx, key, into)
	return err == nil, client.IgnoreNotFound(err)
}
