// Package binding reconciles bindings of one kind. A pass reads top to bottom:
// desired, observe, plan and apply, status. Before it the binding is bound to
// its group, and between, a large removal is confirmed by live reads.
package binding

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"target-ownership-controller/controller/allow"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/endpoints"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/controller/policy"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
)

// Groups is the load balancer API, as far as bindings need it.
type Groups interface {
	pass.Group
	// Group describes a target group. A group that does not exist is
	// ownership.ErrGroupMissing.
	Group(context.Context, elb.GroupRef) (elb.Group, error)
	// Health lists all targets of a group.
	Health(context.Context, ownership.GroupARN) (map[ownership.Target]elb.State, error)
	// Tags are those of a group, younger than the age.
	Tags(ctx context.Context, group ownership.GroupARN, age time.Duration) (elb.Tags, error)
	// Targets is Health with the reasons.
	Targets(context.Context, ownership.GroupARN) (map[ownership.Target]elb.Health, error)
}

// Gate says whether this cluster may touch target groups at all.
type Gate interface {
	// Check returns why not, or nil.
	Check() error
	// Drained reports whether its targets are to leave the groups that it
	// shares, while its bindings stay.
	Drained() bool
	// Mark is the present moment, for CheckSince.
	Mark() cluster.Mark
	// CheckSince is Check, and demands a confirmation of the cluster ID that
	// is newer than the mark. A record that no binding stands for is nobody's
	// but for the ID in its key: a process that goes on after its ID was given
	// away would take the new owner's records for its own orphans.
	CheckSince(cluster.Mark) error
}

// Options are the settings of a Reconciler.
type Options struct {
	Kind      kind.Kind // of the bindings
	ClusterID string
	Version   string
	// Account is that of Groups; empty if unknown.
	Account string
	// ComparePeriod is the time between two comparisons of a record with its
	// group. Each binding adds up to a tenth at random.
	ComparePeriod time.Duration
}

// Reconciler brings the targets of each binding into its group and takes out
// none but those that are this cluster's own.
type Reconciler struct {
	Client client.Client
	Live   client.Reader // reads around the caches
	Groups Groups
	// Assume reaches the groups of other accounts; nil if nothing does. The
	// role is valid.
	Assume func(elb.Role) Groups
	Store  ownership.Store
	Gate   Gate
	Events events.EventRecorder
	Clock  clock.PassiveClock
	NewID  func() string
	// Allowed says who may bind what; nil lets everybody bind everything.
	Allowed Allowed
	// AllowedChanged tells that this is another answer now; nil if it never is.
	AllowedChanged <-chan allow.Changed
	// Journal keeps the history; nil for none.
	Journal Journal
	// Tracer makes a trace of each pass; nil for none.
	Tracer trace.Tracer
	// Gates lets Pods wait for their targets; nil if none waits.
	Gates Gates
	Options

	states  *states
	roles   *roles
	backoff workqueue.TypedRateLimiter[client.ObjectKey]
	outages outages
}

// Retries of a binding start at firstRetry and double up to maxRetry. A new
// event is handled at once, whatever the wait.
const (
	firstRetry = 200 * time.Millisecond
	maxRetry   = 30 * time.Second
)

// New returns a Reconciler that remembers nothing yet.
func New(r Reconciler) *Reconciler {
	r.states, r.roles, r.outages = newStates(), newRoles(), newOutages()
	r.backoff = workqueue.NewTypedItemExponentialFailureRateLimiter[client.ObjectKey](firstRetry, maxRetry)
	return &r
}

// Reconcile makes one pass over one binding.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (_ reconcile.Result, failed error) {
	b := r.newRound()
	if err := r.Client.Get(ctx, req.NamespacedName, b.object); err != nil {
		if apierrors.IsNotFound(err) {
			return r.vanished(ctx, req.NamespacedName)
		}
		return reconcile.Result{}, err
	}
	if b.deleting() && !controllerutil.ContainsFinalizer(b, v1beta1.Finalizer) {
		r.outages.leaves(req.NamespacedName)
		return reconcile.Result{}, nil // somebody else's turn: when it is gone, vanished finishes
	}
	r.readPolicy(b)

	ctx, span := r.trace(ctx, "pass", req.NamespacedName)
	defer func() { b.endTrace(span, failed) }()
	err := r.pass(ctx, b)
	if errors.Is(err, ownership.ErrConflict) {
		metrics.Conflict()
	}
	missing := errors.Is(err, ownership.ErrGroupMissing)
	if missing {
		r.unbind(b)
	}
	if b.deleting() && (missing || errors.Is(err, elb.ErrGroupInvalid)) {
		err = r.forgetGroup(ctx, b)
	}
	if b.deleting() && unreachable(err) {
		err = r.neverBound(ctx, b, err)
	}
	if err == nil && b.deleting() && b.finished() {
		if err = r.release(ctx, b); err == nil {
			return reconcile.Result{}, nil
		}
	}
	r.outages.follow(b, err)
	status := step{"status", func(ctx context.Context, b *round) error { return r.status(ctx, b, err) }}
	if err := status.run(ctx, b); err != nil {
		return reconcile.Result{}, err
	}
	return r.next(ctx, b, err), nil
}

// vanished finishes for a binding that went without waiting for its
// finalizer. What this process does not know of it, the sweep of orphans finds.
func (r *Reconciler) vanished(ctx context.Context, key client.ObjectKey) (reconcile.Result, error) {
	st := r.states.get(key)
	if st == nil || st.ledger.Finished() {
		r.forget(key)
		return reconcile.Result{}, nil
	}
	if st.orphan == nil {
		st.orphan = &orphan{ledger: st.ledger, read: r.Gate.Mark()}
	}
	r.outages.leaves(key)
	switch err := r.finish(ctx, r.keyOf(key, st.group.ARN), st.orphan); {
	case err == nil:
		r.forget(key)
		return reconcile.Result{}, nil
	case errors.Is(err, cluster.ErrNotRenewed):
		return reconcile.Result{RequeueAfter: pollGate}, nil
	default:
		r.tell(ctx, key, err, "a binding that is gone has not left its group yet")
		return reconcile.Result{RequeueAfter: r.backoff.When(key)}, nil
	}
}

func (r *Reconciler) forget(key client.ObjectKey) {
	r.states.forget(key)
	r.states.news(key, "")
	r.backoff.Forget(key)
	r.outages.leaves(key)
	r.metricsOf(key).Forget()
	if r.Gates != nil {
		r.Gates.Passed(r.Kind, key, nil)
	}
}

// pass is the whole program: what is wanted, what is there, make it so.
func (r *Reconciler) pass(ctx context.Context, b *round) error {
	if b.closed = admits(r.Gate.Check(), b.deleting() && !b.retains() && !b.handsOver()); b.closed != nil {
		return b.closed
	}
	for _, s := range []step{
		{"bind", r.bind},
		{"desired", r.desired},
		{"observe", r.observe},
		{"confirm", r.confirm},
		{"apply", r.apply},
	} {
		if err := s.run(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// step is a part of a pass, whose time is taken and shown in its trace.
type step struct {
	name string
	do   func(context.Context, *round) error
}

func (s step) run(ctx context.Context, b *round) error {
	return metrics.Step(ctx, s.name, func(ctx context.Context) error { return s.do(ctx, b) })
}

// admits judges an answer of the gate. A cluster that was retired takes nothing
// in any more, and may take out what is left of a binding that is deleted.
func admits(err error, deleting bool) error {
	if deleting && is[*cluster.RetiredError](err) {
		return nil
	}
	return err
}

// round is one pass over one binding: what it found and what it did.
type round struct {
	*v1beta1.TargetGroupBinding
	object    client.Object // the same, in its own kind
	kind      kind.Kind
	policy    policy.Policy
	heldUntil time.Time // when the first hold of an endpoint ends; zero if none does
	forbidden error     // why the namespace may not bind the group, or is not known to
	tagsUntil time.Time // how long the tags count that allowed it or not; zero if none did
	misread   error     // why the policy cannot be read
	state     *state
	began     time.Time
	closed    error // why the gate lets nothing through
	want      ownership.Set
	limited   limited             // by policies
	handing   handing             // to another owner
	skipped   []endpoints.Skipped // endpoints that cannot be targets
	gated     endpoints.Waiting   // targets that Pods wait for
	kept      int                 // targets that are not ready and stay for the minimum
	absent    error               // why nothing is wanted, where that needs saying
	live      bool                // want was read around the caches
	report    pass.Report
	missing   []ownership.Target // that somebody took out of the group

	compared bool // the group was listed
	done     bool // nothing is left to do for this binding

	outcome v1beta1.ConditionReason // what the pass came to
	err     error                   // why it ended early
}

func (r *Reconciler) newRound() *round {
	object := r.Kind.New()
	return &round{TargetGroupBinding: r.Kind.Binding(object), object: object, kind: r.Kind, began: r.Clock.Now()}
}

// shared bindings leave alone what they did not register.
func (b *round) shared() bool { return b.kind.Shared || b.Spec.MultiClusterTargetGroup }

// exclusive bindings take out what nobody recorded. One that is being deleted
// takes out its own targets only, and so does one that may not have the group.
func (b *round) exclusive() bool { return !b.shared() && !b.deleting() && b.forbidden == nil }

// called reports whether the load balancer API served the pass.
func (b *round) called() bool {
	return b.compared || len(b.report.Registered)+len(b.report.Deregistered) > 0
}

func (b *round) deleting() bool { return !b.DeletionTimestamp.IsZero() }

// finished reports whether no record and no call of ours is left behind.
func (b *round) finished() bool {
	if b.done || !b.state.ledger.Loaded() {
		return b.done
	}
	if b.retains() {
		return b.handedOver()
	}
	return b.state.ledger.Finished()
}

// comesTo notes the outcome of the pass, for the metrics and its trace.
func (b *round) comesTo(outcome v1beta1.ConditionReason, err error) {
	b.outcome, b.err = outcome, err
	metrics.Passed(string(outcome))
}

// release lets the API server delete the binding: its record is empty, its
// targets are to stay, or its group is gone.
func (r *Reconciler) release(ctx context.Context, b *round) error {
	key := client.ObjectKeyFromObject(b)
	if b.state != nil {
		if err := r.forgetRecord(ctx, b); err != nil {
			return err
		}
	}
	err := r.patch(ctx, b, func() { controllerutil.RemoveFinalizer(b, v1beta1.Finalizer) })
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	r.forget(key)
	b.comesTo("Released", nil)
	log.FromContext(ctx).Info("binding released", "targetGroup", b.Status.TargetGroupARN)
	return nil
}

// patch changes the binding, if nobody else has since it was read.
func (r *Reconciler) patch(ctx context.Context, b *round, change func()) error {
	before := b.object.DeepCopyObject().(client.Object)
	change()
	return r.Client.Patch(ctx, b.object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// forgetRecord deletes the record of a binding that goes. What it still names
// is what is to stay, or what went with its group.
func (r *Reconciler) forgetRecord(ctx context.Context, b *round) error {
	left, reason := b.state.ledger.Record(), missingGroup
	if b.retains() {
		reason = retainedTargets
	}
	if err := b.state.ledger.Forget(ctx); err != nil {
		return err
	}
	r.roles.forget(r.keyOf(client.ObjectKeyFromObject(b), b.state.group.ARN))
	r.gaveUp(ctx, left, reason)
	return nil
}
