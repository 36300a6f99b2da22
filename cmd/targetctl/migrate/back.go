package migrate

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
)

// backBeside gives bindings of the kind that LBC does not know back to LBC,
// while both run.
func (m *Migration) backBeside() []func(context.Context, *subject) error {
	return []func(context.Context, *subject) error{
		m.makeOld, m.waitLBC, m.handOver,
	}
}

// backInstead gives TargetGroupBindings back to LBC. This controller leaves
// them alone as soon as it sees that LBC leads, and their records stay as they
// are from then on.
func (m *Migration) backInstead() []func(context.Context, *subject) error {
	return []func(context.Context, *subject) error{
		m.waitLeft, m.waitLBC, m.release,
	}
}

// makeOld makes LBC's binding again. It has no list yet: LBC takes out nothing
// then, registers what is missing, and writes one.
func (m *Migration) makeOld(ctx context.Context, s *subject) error {
	if s.old != nil || s.twin == nil {
		return nil
	}
	m.say("%s: making a TargetGroupBinding", s)
	s.old = &v1beta1.TargetGroupBinding{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}, Spec: sharedSpec(s.twin)}
	return m.Cluster.Create(ctx, s.old)
}

// waitLBC waits until LBC works on the binding, and has listed all that was
// wanted when the wait began and still is.
func (m *Migration) waitLBC(ctx context.Context, s *subject) error {
	if s.twin == nil && m.Kind.Shared {
		return nil
	}
	return m.waitListed(ctx, s, func() ownership.Set { return s.want })
}

// waitListed waits until LBC has listed the targets, or they are not wanted
// any more.
func (m *Migration) waitListed(ctx context.Context, s *subject, which func() ownership.Set) error {
	var missing ownership.Set
	return m.until(ctx, fmt.Sprintf("LBC has taken over %s", s), func(ctx context.Context) (string, error) {
		switch marked, err := m.marked(ctx, s); {
		case err != nil:
			return err.Error(), ctx.Err()
		case !marked:
			return "LBC has not put its finalizer on the binding: does it run?", nil
		case !s.shared():
			return "", nil // LBC keeps no list, and takes out what is no endpoint
		}
		if err := m.reread(ctx, s); err != nil {
			return err.Error(), ctx.Err()
		}
		if s.list == nil {
			return "LBC has not written its list", nil
		}
		if missing == nil {
			missing = which()
		}
		missing = without(missing, func(t ownership.Target) bool { return s.list.targets[t] || !s.want[t] })
		if len(missing) == 0 {
			return "", nil
		}
		return "LBC has not listed " + some(missing), nil
	})
}

// reread reads the list before what is wanted: a pod that came in between is
// wanted and not listed, which is waited for.
func (m *Migration) reread(ctx context.Context, s *subject) (err error) {
	if s.list, err = m.readList(ctx, s.ObjectKey); err != nil {
		return err
	}
	return m.refresh(ctx, s)
}

// marked reports whether LBC has its finalizer on the binding.
func (m *Migration) marked(ctx context.Context, s *subject) (bool, error) {
	b := &v1beta1.TargetGroupBinding{}
	err := m.Cluster.Get(ctx, s.ObjectKey, b)
	return slices.Contains(b.Finalizers, lbcFinalizer), err
}

// handOver has the twin go. It is stopped first, with all that it holds: then
// what is LBC's by now can be told from what is nobody's but the twin's.
func (m *Migration) handOver(ctx context.Context, s *subject) error {
	if s.twin != nil {
		if err := m.freeze(ctx, s); err != nil {
			return err
		}
		if err := m.waitListed(ctx, s, func() ownership.Set { return m.frozen(s, kind.SharedTargetGroupBinding) }); err != nil {
			return err
		}
		if err := m.stand(ctx, s, kind.SharedTargetGroupBinding); err != nil {
			return err
		}
		if err := m.letGo(ctx, s); err != nil {
			return err
		}
	}
	return m.stepDown(ctx, s)
}

// onHold is a deletion policy that there is not: the controller leaves a
// binding with one as it is, until it gets another.
const onHold = "OnHold"

// freeze deletes the twin and has the controller hold that up: from then on
// its record stays as it is.
func (m *Migration) freeze(ctx context.Context, s *subject) error {
	k := kind.SharedTargetGroupBinding
	if s.twin.DeletionTimestamp.IsZero() {
		m.say("%s: SharedTargetGroupBinding is put on hold", s)
		if err := m.policy(ctx, s, onHold); err != nil {
			return err
		}
		object := k.New()
		k.Binding(object).Name, k.Binding(object).Namespace = s.Name, s.Namespace
		if err := m.Cluster.Delete(ctx, object); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	return m.until(ctx, fmt.Sprintf("this controller has put %s on hold", s), func(ctx context.Context) (string, error) {
		object := k.New()
		if err := m.Cluster.Get(ctx, s.ObjectKey, object); err != nil {
			return "", client.IgnoreNotFound(err)
		}
		b := k.Binding(object)
		c := ready(b)
		if b.Annotations[v1beta1.DeletionPolicyAnnotation] != onHold || c != nil && c.ObservedGeneration == b.Generation && c.Reason == string(v1beta1.ReasonInvalidSpec) {
			return "", nil
		}
		return "its condition Ready does not say so yet", nil
	})
}

func (m *Migration) policy(ctx context.Context, s *subject, policy string) error {
	return m.edit(ctx, s, kind.SharedTargetGroupBinding, func(b *v1beta1.TargetGroupBinding) {
		if b.Annotations == nil {
			b.Annotations = map[string]string{}
		}
		b.Annotations[v1beta1.DeletionPolicyAnnotation] = policy
	})
}

// frozen is all that the record of a binding names that nobody works on.
func (m *Migration) frozen(s *subject, k kind.Kind) ownership.Set {
	set, record := ownership.Set{}, of(s.books, m.owner(s, k))
	for t := range record.Held {
		set[t] = true
	}
	for t := range record.Releasing {
		set[t] = true
	}
	return set
}

// standIn is the owner that stands for LBC in the table while a record of ours
// goes: what it holds is not taken out.
func (m *Migration) standIn(s *subject) ownership.Owner { return m.named(s, "lbc:"+s.Name) }

// stand writes down what is LBC's by now, of that which the binding names.
func (m *Migration) stand(ctx context.Context, s *subject, k kind.Kind) error {
	var kept []ownership.Target
	for t := range m.frozen(s, k) {
		if s.want[t] || s.list != nil && s.list.targets[t] {
			kept = append(kept, t)
		}
	}
	slices.Sort(kept)
	if len(kept) == 0 {
		return nil
	}
	return m.record(ctx, s, m.standIn(s), kept)
}

// letGo ends the hold: the controller releases what the twin holds, by the
// protocol.
func (m *Migration) letGo(ctx context.Context, s *subject) error {
	m.say("%s: SharedTargetGroupBinding goes", s)
	if err := m.policy(ctx, s, v1beta1.DeletionPolicyDelete); err != nil {
		return err
	}
	return m.until(ctx, fmt.Sprintf("SharedTargetGroupBinding %s is gone", s), func(ctx context.Context) (string, error) {
		object := kind.SharedTargetGroupBinding.New()
		err := m.Cluster.Get(ctx, s.ObjectKey, object)
		switch {
		case apierrors.IsNotFound(err):
			return "", nil
		case err != nil:
			return err.Error(), ctx.Err()
		}
		b := kind.SharedTargetGroupBinding.Binding(object)
		if c := ready(b); c != nil && c.ObservedGeneration == b.Generation {
			return c.Message, nil
		}
		return "it has finalizers", nil
	})
}

// stepDown takes the stand-in away. Its targets are LBC's: none is taken out.
func (m *Migration) stepDown(ctx context.Context, s *subject) error {
	return m.ledger(s, m.standIn(s)).Forget(ctx)
}

// waitLeft waits until this controller leaves the binding alone.
func (m *Migration) waitLeft(ctx context.Context, s *subject) error {
	return m.until(ctx, fmt.Sprintf("this controller sees that LBC leads, and leaves %s alone: start LBC now", s), func(ctx context.Context) (string, error) {
		b := &v1beta1.TargetGroupBinding{}
		if err := m.Cluster.Get(ctx, s.ObjectKey, b); err != nil {
			return err.Error(), ctx.Err()
		}
		if c := ready(b); c != nil && c.Reason == string(v1beta1.ReasonLoadBalancerControllerActive) {
			return "", nil
		}
		return "its condition Ready does not say so yet", nil
	})
}

// release takes a record away whose binding is LBC's by now: what LBC has
// stays, and the rest is taken out by the protocol.
func (m *Migration) release(ctx context.Context, s *subject) error {
	if err := m.waitListed(ctx, s, func() ownership.Set { return m.frozen(s, kind.TargetGroupBinding) }); err != nil {
		return err
	}
	if err := m.refresh(ctx, s); err != nil {
		return err
	}
	if err := m.stand(ctx, s, kind.TargetGroupBinding); err != nil {
		return err
	}
	m.say("%s: the record of this controller goes", s)
	if err := m.takeOut(ctx, s, m.owner(s, kind.TargetGroupBinding)); err != nil {
		return err
	}
	err := m.edit(ctx, s, kind.TargetGroupBinding, func(b *v1beta1.TargetGroupBinding) {
		controllerutil.RemoveFinalizer(b, v1beta1.Finalizer)
	})
	if err != nil {
		return err
	}
	return m.stepDown(ctx, s)
}

// dropBridge has the twin go whose TargetGroupBinding this controller works on.
func (m *Migration) dropBridge(ctx context.Context, s *subject) error {
	if s.twin == nil || !s.bridge() {
		return nil
	}
	if err := m.freeze(ctx, s); err != nil {
		return err
	}
	var missing ownership.Set
	err := m.until(ctx, fmt.Sprintf("TargetGroupBinding %s holds all that its bridge does", s), func(ctx context.Context) (string, error) {
		if err := m.refresh(ctx, s); err != nil {
			return err.Error(), ctx.Err()
		}
		if missing == nil {
			missing = m.frozen(s, kind.SharedTargetGroupBinding)
		}
		record := of(s.books, m.owner(s, kind.TargetGroupBinding))
		missing = without(missing, func(t ownership.Target) bool {
			_, held := record.Held[t]
			return held || !s.want[t]
		})
		if len(missing) == 0 {
			return "", nil
		}
		return some(missing) + " to go", nil
	})
	if err != nil {
		return err
	}
	return m.letGo(ctx, s)
}

func ready(b *v1beta1.TargetGroupBinding) *metav1.Condition {
	return meta.FindStatusCondition(b.Status.Conditions, string(v1beta1.ConditionReady))
}
