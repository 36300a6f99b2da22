package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
	"target-ownership-controller/ownership/simulation"
	"target-ownership-controller/test/kube"
	"target-ownership-controller/test/peer"
)

// lists is a controller that keeps one list of targets for each binding, or
// none at all: it lists the group in every pass, deregisters, writes the list,
// registers, and writes two annotations of the binding, as test/peer describes.
type lists struct {
	client  client.Client
	group   sdkGroup
	binding client.ObjectKey
	method  simulation.Reconciler // nil: no list
	passes  int
}

// runLists starts the controller of a side, with or without the list.
func runLists(tracks bool) func(*testing.B, *side) {
	return func(b *testing.B, s *side) {
		b.Helper()
		mgr := s.manager(b)
		l := &lists{
			client: mgr.GetClient(), binding: client.ObjectKey{Namespace: s.namespace, Name: service},
			group: sdkGroup{client: s.elbClient(), arn: s.group},
		}
		if tracks {
			l.method = peer.Method{SkipUnchanged: true}.Start(simulation.Env{
				Now: time.Now, Group: l.group, List: configMap{mgr.GetAPIReader(), mgr.GetClient(), l.binding},
			})
		}
		toBinding := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: l.binding}}
		})
		err := builder.ControllerManagedBy(mgr).Named(s.name).Watches(&discoveryv1.EndpointSlice{}, toBinding).Complete(l)
		if err != nil {
			b.Fatal(err)
		}
		s.start(b, mgr)
	}
}

// Reconcile makes one pass.
func (l *lists) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	want, err := l.want(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if l.method == nil {
		err = l.group.becomes(want)
	} else {
		_, err = l.method.Reconcile(ctx, simulation.Binding{Want: want})
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, l.annotate(ctx)
}

func (l *lists) want(ctx context.Context) (ownership.Set, error) {
	var slices discoveryv1.EndpointSliceList
	if err := l.client.List(ctx, &slices, client.InNamespace(l.binding.Namespace)); err != nil {
		return nil, err
	}
	want := ownership.Set{}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			want[ownership.Target(fmt.Sprintf("%s:%d", e.Addresses[0], kube.TargetPort))] = true
		}
	}
	return want, nil
}

// annotate writes the checkpoint of a pass, and when it was made.
func (l *lists) annotate(ctx context.Context) error {
	l.passes++
	for _, name := range []string{"checkpoint", "checkpoint-timestamp"} {
		binding := &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Namespace: l.binding.Namespace, Name: l.binding.Name}}
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"bench/%s":"%d"}}}`, name, l.passes))
		if err := l.client.Patch(ctx, binding, patch); err != nil {
			return err
		}
	}
	return nil
}

// configMap is the list of a binding in a ConfigMap.
type configMap struct {
	live    client.Reader
	client  client.Client
	binding client.ObjectKey
}

func (c configMap) object() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.binding.Namespace, Name: "targets-" + c.binding.Name}}
}

func (c configMap) Load(ctx context.Context) (ownership.Set, bool, error) {
	m := c.object()
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
		return nil, false, client.IgnoreNotFound(err)
	}
	set := ownership.Set{}
	return set, true, json.Unmarshal([]byte(m.Data["targets"]), &set)
}

func (c configMap) Save(ctx context.Context, targets ownership.Set) error {
	content, err := json.Marshal(targets)
	if err != nil {
		return err
	}
	m := c.object()
	m.Data = map[string]string{"targets": string(content)}
	if err := c.client.Update(ctx, m); client.IgnoreNotFound(err) != nil || err == nil {
		return err
	}
	return c.client.Create(ctx, m)
}

func (c configMap) Delete(ctx context.Context) error { return c.client.Delete(ctx, c.object()) }

// sdkGroup is a target group behind the real SDK client.
type sdkGroup struct {
	pass.Group // needs permissions, which these methods do not know
	client     *elbv2.Client
	arn        string
}

// maxTargets is how many targets a call names.
const maxTargets = 200

// becomes has the group hold these targets and no others.
func (g sdkGroup) becomes(want ownership.Set) error {
	members, err := g.List()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		verb       simulation.Verb
		have, lack ownership.Set
	}{{simulation.Deregister, members, want}, {simulation.Register, want, members}} {
		targets := sets.KeySet(c.have).Difference(sets.KeySet(c.lack)).UnsortedList()
		for _, err := range g.Call(c.verb, targets, time.Time{}).Refused {
			return err
		}
	}
	return nil
}

// List implements [simulation.Caller].
func (g sdkGroup) List() (ownership.Set, error) {
	out, err := g.client.DescribeTargetHealth(context.Background(), &elbv2.DescribeTargetHealthInput{TargetGroupArn: &g.arn})
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

// Call implements [simulation.Caller].
func (g sdkGroup) Call(verb simulation.Verb, targets []ownership.Target, _ time.Time) ownership.Result {
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

func (g sdkGroup) call(verb simulation.Verb, targets []ownership.Target) error {
	descriptions := make([]types.TargetDescription, len(targets))
	for i, t := range targets {
		descriptions[i] = types.TargetDescription{Id: aws.String(t.ID()), Port: aws.Int32(int32(t.Port()))}
	}
	if verb == simulation.Register {
		_, err := g.client.RegisterTargets(context.Background(), &elbv2.RegisterTargetsInput{TargetGroupArn: &g.arn, Targets: descriptions})
		return err
	}
	_, err := g.client.DeregisterTargets(context.Background(), &elbv2.DeregisterTargetsInput{TargetGroupArn: &g.arn, Targets: descriptions})
	return err
}
