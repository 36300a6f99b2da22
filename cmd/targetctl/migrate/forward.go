package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	shared "target-ownership-controller/controller/api/shared/v1beta1"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
)

// beside moves bindings to the kind that LBC does not know, while LBC runs.
func (m *Migration) beside() []func(context.Context, *subject) error {
	return []func(context.Context, *subject) error{
		m.makeTwin, m.waitTwin, m.remember, m.detach, m.settle, m.clearLeftovers,
	}
}

// instead moves bindings to this controller for good. Between the end of LBC
// and the moment in which this controller may work on its kind nobody would
// register new pods, so a twin does.
func (m *Migration) instead() []func(context.Context, *subject) error {
	return []func(context.Context, *subject) error{
		m.makeTwin, m.waitTwin, m.waitOld, m.unmark, m.settle, m.clearLeftovers, m.dropBridge,
	}
}

// bridge reports whether the twin is there for the time of a migration only.
func (s *subject) bridge() bool { _, found := s.twin.Annotations[heldBy]; return found }

// makeTwin makes the SharedTargetGroupBinding, whose targets are registered
// already: nothing changes in the group.
func (m *Migration) makeTwin(ctx context.Context, s *subject) error {
	if s.twin != nil || s.old == nil {
		return nil
	}
	object := &shared.SharedTargetGroupBinding{}
	s.twin = (*v1beta1.TargetGroupBinding)(object)
	s.twin.Name, s.twin.Namespace = s.Name, s.Namespace
	s.twin.Annotations = map[string]string{heldBy: ""}
	s.twin.Spec = sharedSpec(s.old)
	m.say("%s: making a SharedTargetGroupBinding", s)
	return m.Cluster.Create(ctx, object)
}

func (m *Migration) waitTwin(ctx context.Context, s *subject) error {
	if s.old == nil || !s.twin.DeletionTimestamp.IsZero() {
		return nil
	}
	return m.waitHeld(ctx, s, kind.SharedTargetGroupBinding)
}

func (m *Migration) waitOld(ctx context.Context, s *subject) error {
	return m.waitHeld(ctx, s, kind.TargetGroupBinding)
}

// waitHeld waits until a binding of ours holds all that was wanted when the
// wait began, and still is. What is wanted later is claimed as it comes.
func (m *Migration) waitHeld(ctx context.Context, s *subject, k kind.Kind) error {
	var missing ownership.Set
	return m.until(ctx, fmt.Sprintf("this controller holds the targets of %s %s", k.Name, s), func(ctx context.Context) (string, error) {
		if err := m.refresh(ctx, s); err != nil {
			return err.Error(), ctx.Err()
		}
		if missing == nil {
			missing = s.want
		}
		record := of(s.books, m.owner(s, k))
		missing = without(missing, func(t ownership.Target) bool {
			_, held := record.Held[t]
			return held || !s.want[t]
		})
		if len(missing) == 0 {
			return "", nil
		}
		return m.missing(ctx, s, k, missing), nil
	})
}

// missing says what is missing, and what the controller says of it.
func (m *Migration) missing(ctx context.Context, s *subject, k kind.Kind, targets ownership.Set) string {
	text := some(targets) + " to go"
	object := k.New()
	if err := m.Cluster.Get(ctx, s.ObjectKey, object); err != nil {
		return text
	}
	if c := ready(k.Binding(object)); c != nil && c.Message != "" {
		return fmt.Sprintf("%s; its condition Ready says: %s", text, c.Message)
	}
	return fmt.Sprintf("%s; it has no condition Ready yet: does the controller run with --binding-kinds=%s?", text, k.Name)
}

// refresh reads again what changes.
func (m *Migration) refresh(ctx context.Context, s *subject) (err error) {
	if s.books, err = m.records(ctx, s); err != nil {
		return err
	}
	s.want, err = m.wanted(ctx, s)
	return err
}

// remember notes on the twin which LBC process knows the binding.
func (m *Migration) remember(ctx context.Context, s *subject) error {
	if s.old == nil {
		return nil
	}
	holder, err := m.lbcHolder(ctx)
	if err != nil {
		return err
	}
	return m.edit(ctx, s, kind.SharedTargetGroupBinding, func(b *v1beta1.TargetGroupBinding) {
		if b.Annotations == nil {
			b.Annotations = map[string]string{}
		}
		b.Annotations[heldBy] = holder
	})
}

// detach has LBC's binding go without LBC's finalizer: LBC takes targets out
// for a binding that it sees with both a deletion timestamp and its finalizer,
// and the API server never stores such a one. The binding is deleted in exactly
// the version that has no finalizer. Should LBC put its own back before that,
// there is another version, and the delete is refused.
func (m *Migration) detach(ctx context.Context, s *subject) error {
	if s.old == nil {
		return nil
	}
	m.say("%s: taking LBC's binding away", s)
	return m.until(ctx, fmt.Sprintf("LBC's binding %s is gone", s), func(ctx context.Context) (string, error) {
		err := m.detachOnce(ctx, s)
		if apierrors.IsConflict(err) {
			return "LBC changes it at the same time", nil
		}
		return "", err
	})
}

func (m *Migration) detachOnce(ctx context.Context, s *subject) error {
	b := &v1beta1.TargetGroupBinding{}
	if err := m.Cluster.Get(ctx, s.ObjectKey, b); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !b.DeletionTimestamp.IsZero() {
		return fmt.Errorf("somebody deleted it, and LBC takes its targets out; the SharedTargetGroupBinding registers them again")
	}
	if err := m.strip(ctx, b, lbcFinalizer); err != nil {
		return err
	}
	if len(b.Finalizers) > 0 {
		return fmt.Errorf("it got the finalizer %s in the meantime", b.Finalizers[0])
	}
	return client.IgnoreNotFound(m.Cluster.Delete(ctx, b, exactly(b)))
}

// strip takes a finalizer off the version of the binding that was read.
func (m *Migration) strip(ctx context.Context, b *v1beta1.TargetGroupBinding, finalizer string) error {
	before := b.DeepCopy()
	if !controllerutil.RemoveFinalizer(b, finalizer) {
		return nil
	}
	return m.Cluster.Patch(ctx, b, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// unmark takes LBC's finalizer off a binding that stays: nobody would ever do
// that, and its deletion would hang.
func (m *Migration) unmark(ctx context.Context, s *subject) error {
	return m.edit(ctx, s, kind.TargetGroupBinding, func(b *v1beta1.TargetGroupBinding) {
		controllerutil.RemoveFinalizer(b, lbcFinalizer)
	})
}

// edit changes a binding, however often others do so at the same time.
func (m *Migration) edit(ctx context.Context, s *subject, k kind.Kind, change func(*v1beta1.TargetGroupBinding)) error {
	return m.until(ctx, fmt.Sprintf("%s %s is changed", k.Name, s), func(ctx context.Context) (string, error) {
		object := k.New()
		if err := m.Cluster.Get(ctx, s.ObjectKey, object); err != nil {
			return "", client.IgnoreNotFound(err)
		}
		before := object.DeepCopyObject().(client.Object)
		if change(k.Binding(object)); equality.Semantic.DeepEqual(before, object) {
			return "", nil
		}
		err := m.Cluster.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			return "somebody changes it at the same time", nil
		}
		return "", client.IgnoreNotFound(err)
	})
}

// without are the targets that are not done.
func without(set ownership.Set, done func(ownership.Target) bool) ownership.Set {
	rest := maps.Clone(set)
	maps.DeleteFunc(rest, func(t ownership.Target, _ bool) bool { return done(t) })
	return rest
}

// some names one of the targets.
func some(set ownership.Set) string {
	first := slices.Sorted(maps.Keys(set))[0]
	if len(set) == 1 {
		return string(first)
	}
	return fmt.Sprintf("%s and %d more", first, len(set)-1)
}
