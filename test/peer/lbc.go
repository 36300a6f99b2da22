package peer

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/simulation"
)

// What the AWS Load Balancer Controller leaves in a cluster.
const (
	Finalizer  = "elbv2.k8s.aws/resources"
	ListPrefix = "aws-lbc-targets-"
	ListKey    = "targets"
	Checkpoint = "elbv2.k8s.aws/checkpoint"
	Lease      = "aws-load-balancer-controller-leader"
)

// Controller is one process of a controller that shares groups by [Method], on
// real TargetGroupBindings. Around the method it does what the AWS Load Balancer
// Controller does with the objects:
//
//   - it keeps its finalizer on each binding, puts it back if it is taken off,
//     and writes a checkpoint as an annotation;
//   - of a binding that is deleted and has the finalizer it takes all targets of
//     its list out, deletes the list, and takes the finalizer off;
//   - a binding without multiClusterTargetGroup has its group for itself;
//   - it reads a list once in its life, and forgets it with a deletion only;
//   - a binding that is not there any more is none of its business.
type Controller struct {
	Client client.Client // of a manager: reads from its cache
	Live   client.Reader
	ELB    *elbv2.Client

	mu       sync.Mutex
	bindings map[client.ObjectKey]simulation.Reconciler
}

// SetupWithManager watches bindings and endpoints.
func (c *Controller) SetupWithManager(mgr ctrl.Manager) error {
	c.bindings = map[client.ObjectKey]simulation.Reconciler{}
	return builder.ControllerManagedBy(mgr).Named("lbc").For(&v1beta1.TargetGroupBinding{}).
		Watches(&discoveryv1.EndpointSlice{}, handler.EnqueueRequestsFromMapFunc(c.bindingsOf)).Complete(c)
}

func (c *Controller) bindingsOf(ctx context.Context, slice client.Object) []reconcile.Request {
	var all v1beta1.TargetGroupBindingList
	if err := c.Client.List(ctx, &all, client.InNamespace(slice.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for _, b := range all.Items {
		if b.Spec.ServiceRef.Name == slice.GetLabels()[discoveryv1.LabelServiceName] {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&b)})
		}
	}
	return requests
}

// Reconcile makes one pass.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	b := &v1beta1.TargetGroupBinding{}
	if err := c.Client.Get(ctx, req.NamespacedName, b); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !b.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, c.cleanUp(ctx, b)
	}
	if err := c.patch(ctx, b, func() { controllerutil.AddFinalizer(b, Finalizer) }); err != nil {
		return reconcile.Result{}, err
	}
	want, err := c.want(ctx, b)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := c.pass(ctx, b, simulation.Binding{Want: want}); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, c.patch(ctx, b, func() {
		metav1.SetMetaDataAnnotation(&b.ObjectMeta, Checkpoint, checkpoint(want))
	})
}

func (c *Controller) cleanUp(ctx context.Context, b *v1beta1.TargetGroupBinding) error {
	if !controllerutil.ContainsFinalizer(b, Finalizer) {
		return nil
	}
	if err := c.pass(ctx, b, simulation.Binding{Want: ownership.Set{}, Deleted: true}); err != nil {
		return err
	}
	return c.patch(ctx, b, func() { controllerutil.RemoveFinalizer(b, Finalizer) })
}

func (c *Controller) patch(ctx context.Context, b *v1beta1.TargetGroupBinding, change func()) error {
	before := b.DeepCopy()
	change()
	if slices.Equal(before.Finalizers, b.Finalizers) && maps.Equal(before.Annotations, b.Annotations) {
		return nil
	}
	return client.IgnoreNotFound(c.Client.Patch(ctx, b, client.MergeFrom(before)))
}

func (c *Controller) pass(ctx context.Context, b *v1beta1.TargetGroupBinding, pass simulation.Binding) error {
	group := Group{Client: c.ELB, ARN: b.Spec.TargetGroupARN}
	if !b.Spec.MultiClusterTargetGroup {
		return group.Becomes(pass.Want)
	}
	_, err := c.remembered(b, group).Reconcile(ctx, pass)
	return err
}

// remembered is what this process knows of a binding of that name.
func (c *Controller) remembered(b *v1beta1.TargetGroupBinding, group Group) simulation.Reconciler {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := client.ObjectKeyFromObject(b)
	if c.bindings[key] == nil {
		c.bindings[key] = Method{}.Start(simulation.Env{Now: time.Now, Group: group, List: List{c.Live, c.Client, key}})
	}
	return c.bindings[key]
}

func (c *Controller) want(ctx context.Context, b *v1beta1.TargetGroupBinding) (ownership.Set, error) {
	var all discoveryv1.EndpointSliceList
	err := c.Client.List(ctx, &all, client.InNamespace(b.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: b.Spec.ServiceRef.Name})
	want := ownership.Set{}
	for _, slice := range all.Items {
		for _, e := range slice.Endpoints {
			want[ownership.Target(fmt.Sprintf("%s:%d", e.Addresses[0], *slice.Ports[0].Port))] = true
		}
	}
	return want, err
}

func checkpoint(want ownership.Set) string {
	sum := fnv.New64()
	for _, t := range slices.Sorted(maps.Keys(want)) {
		_, _ = sum.Write([]byte(t)) // never fails
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// List is the list of a binding, in the form of the AWS Load Balancer
// Controller.
type List struct {
	Live    client.Reader
	Client  client.Client
	Binding client.ObjectKey
}

func (l List) object() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.Binding.Namespace, Name: ListPrefix + l.Binding.Name}}
}

// Load implements [simulation.List].
func (l List) Load(ctx context.Context) (ownership.Set, bool, error) {
	m := l.object()
	if err := l.Live.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
		return nil, false, client.IgnoreNotFound(err)
	}
	set := ownership.Set{}
	for t := range strings.SplitSeq(m.Data[ListKey], ",") {
		if t != "" {
			set[ownership.Target(t)] = true
		}
	}
	return set, true, nil
}

// Save implements [simulation.List].
func (l List) Save(ctx context.Context, targets ownership.Set) error {
	names := make([]string, 0, len(targets))
	for t := range targets {
		names = append(names, string(t))
	}
	m := l.object()
	m.Data = map[string]string{ListKey: strings.Join(names, ",")}
	if err := l.Client.Update(ctx, m); !apierrors.IsNotFound(err) {
		return err
	}
	return l.Client.Create(ctx, m)
}

// Delete implements [simulation.List].
func (l List) Delete(ctx context.Context) error {
	return client.IgnoreNotFound(l.Client.Delete(ctx, l.object()))
}

// Group is a target group behind the real SDK client.
type Group struct {
	pass.Group // needs permissions, which these methods do not know
	Client     *elbv2.Client
	ARN        string
}

// maxTargets is how many targets a call names.
const maxTargets = 200

// List implements [simulation.Caller].
func (g Group) List() (ownership.Set, error) {
	out, err := g.Client.DescribeTargetHealth(context.Background(), &elbv2.DescribeTargetHealthInput{TargetGroupArn: &g.ARN})
	if err != nil {
		return nil, err
	}
	members := ownership.Set{}
	for _, d := range out.TargetHealthDescriptions {
		if d.TargetHealth.State != types.TargetHealthStateEnumDraining {
			members[ownership.Target(aws.ToString(d.Target.Id)+":"+strconv.Itoa(int(aws.ToInt32(d.Target.Port))))] = true
		}
	}
	return members, nil
}

// Becomes has the group hold these targets and no others.
func (g Group) Becomes(want ownership.Set) error {
	members, err := g.List()
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range []ownership.Result{
		g.Call(simulation.Deregister, minus(members, want), time.Time{}),
		g.Call(simulation.Register, minus(want, members), time.Time{}),
	} {
		failed = append(failed, slices.Collect(maps.Values(r.Refused))...)
	}
	return errors.Join(failed...)
}

// Call implements [simulation.Caller].
func (g Group) Call(verb simulation.Verb, targets []ownership.Target, _ time.Time) ownership.Result {
	result := ownership.Result{Refused: map[ownership.Target]error{}}
	for chunk := range slices.Chunk(targets, maxTargets) {
		if err := g.call(verb, chunk); err != nil {
			for _, t := range chunk {
				result.Refused[t] = err
			}
			continue
		}
		result.Done = append(result.Done, chunk...)
	}
	return result
}

func (g Group) call(verb simulation.Verb, targets []ownership.Target) error {
	descriptions := make([]types.TargetDescription, len(targets))
	for i, t := range targets {
		descriptions[i] = types.TargetDescription{Id: aws.String(t.ID()), Port: aws.Int32(int32(t.Port()))}
	}
	if verb == simulation.Register {
		_, err := g.Client.RegisterTargets(context.Background(), &elbv2.RegisterTargetsInput{TargetGroupArn: &g.ARN, Targets: descriptions})
		return err
	}
	_, err := g.Client.DeregisterTargets(context.Background(), &elbv2.DeregisterTargetsInput{TargetGroupArn: &g.ARN, Targets: descriptions})
	return err
}
