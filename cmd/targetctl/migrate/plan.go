package migrate

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
)

// Row is what the plan says of one binding.
type Row struct {
	Binding     string             `json:"binding"`
	TargetGroup ownership.GroupARN `json:"targetGroup,omitempty"`
	Wanted      int                `json:"wanted"` // endpoints that can be targets
	Listed      *int               `json:"listed"` // targets in LBC's list, if there is one
	// Leftover are listed targets that are registered, and neither wanted here
	// nor in any record: they are imported, to be taken out.
	Leftover int    `json:"leftover"`
	Healthy  int    `json:"leftoverHealthy"` // of these; they stay unless forced
	What     string `json:"what,omitempty"`
	Obstacle string `json:"obstacle,omitempty"`
}

// Plan is what is to be done.
type Plan struct {
	Rows     []Row
	subjects []*subject
	steps    []func(context.Context, *subject) error
}

// Work is how many bindings are moved, and Obstacles how many cannot be.
func (p Plan) Work() int {
	return p.count(func(r Row) bool { return r.What != "" && r.Obstacle == "" })
}

// Obstacles is how many bindings cannot be moved.
func (p Plan) Obstacles() int { return p.count(func(r Row) bool { return r.Obstacle != "" }) }

func (p Plan) count(counts func(Row) bool) int {
	n := 0
	for _, r := range p.Rows {
		if counts(r) {
			n++
		}
	}
	return n
}

// judge says of a binding what is done, or what is in the way.
type judge func(context.Context, *subject) error

func (m *Migration) plan(ctx context.Context, j judge) (Plan, error) {
	if err := m.identify(ctx); err != nil {
		return Plan{}, err
	}
	subjects, err := m.subjects(ctx)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Rows: []Row{}} // no row is an empty list, not null
	for _, s := range subjects {
		if s.obstacle == "" {
			if err := j(ctx, s); err != nil {
				s.obstacle = err.Error()
			}
		}
		if s.what == "" && s.obstacle == "" {
			continue
		}
		p.Rows = append(p.Rows, s.row())
		p.subjects = append(p.subjects, s)
	}
	return p, nil
}

func (s *subject) row() Row {
	leaves, healthy := s.leftovers()
	r := Row{
		Binding: s.String(), TargetGroup: s.group.ARN, Wanted: len(s.want),
		Leftover: len(leaves) + len(healthy), Healthy: len(healthy), What: s.what, Obstacle: s.obstacle,
	}
	if s.list != nil {
		r.Listed = new(len(s.list.targets))
	}
	return r
}

// Plan is for the way from LBC to this controller.
func (m *Migration) Plan(ctx context.Context) (Plan, error) {
	if m.Kind.Shared {
		p, err := m.plan(ctx, m.judgeBeside)
		p.steps = m.beside()
		return p, err
	}
	p, err := m.plan(ctx, m.judgeInstead)
	p.steps = m.instead()
	return p, err
}

// PlanBack is for the way back.
func (m *Migration) PlanBack(ctx context.Context) (Plan, error) {
	if m.Kind.Shared {
		p, err := m.plan(ctx, m.judgeBackBeside)
		p.steps = m.backBeside()
		return p, err
	}
	p, err := m.plan(ctx, m.judgeBackInstead)
	p.steps = m.backInstead()
	return p, err
}

// judgeBeside leaves with LBC what it made itself, and what it has for itself.
func (m *Migration) judgeBeside(ctx context.Context, s *subject) error {
	switch {
	case s.old == nil && s.list == nil && of(s.books, m.leftover(s)).Empty():
		return nil // moved, or never was LBC's
	case s.old == nil:
		s.what = "what LBC left of it is taken out, and its list deleted"
		return nil
	case madeByLBC(s.old.Labels), !s.shared():
		return nil
	}
	if s.old.Spec.Networking != nil {
		return fmt.Errorf("spec.networking: LBC takes the security group rules back when its binding goes; add rules of your own, and remove the field")
	}
	for _, f := range s.old.Finalizers {
		if f != lbcFinalizer {
			return fmt.Errorf("it has the finalizer %s, so that it would not go at once", f)
		}
	}
	s.what = "SharedTargetGroupBinding takes over, LBC's binding goes"
	return m.takeable(ctx, s)
}

func (m *Migration) judgeInstead(ctx context.Context, s *subject) error {
	switch {
	case s.old == nil:
		return nil
	case !slices.Contains(s.old.Finalizers, lbcFinalizer) && s.list == nil && (s.twin == nil || !s.bridge()):
		return nil // it is ours already
	}
	s.what = "this controller takes over, LBC's finalizer goes"
	if madeByLBC(s.old.Labels) {
		s.what += "; nobody looks after its load balancer then"
	}
	return m.takeable(ctx, s)
}

// takeable says why this controller cannot take over a binding of LBC's.
func (m *Migration) takeable(ctx context.Context, s *subject) error {
	switch gated, err := m.gated(ctx, s.Namespace); {
	case err != nil:
		return err
	case gated:
		return fmt.Errorf("LBC decides about the readiness of pods in the namespace: remove its label %s, and have the pods replaced", gateLabel)
	case !s.old.DeletionTimestamp.IsZero():
		return fmt.Errorf("it is being deleted: LBC takes its targets out")
	case len(s.old.OwnerReferences) > 0:
		return fmt.Errorf("it belongs to %s %s, which would make it again", s.old.OwnerReferences[0].Kind, s.old.OwnerReferences[0].Name)
	case s.twin != nil && !s.alike():
		return fmt.Errorf("there is a SharedTargetGroupBinding of that name with another spec")
	case s.twin != nil && !s.twin.DeletionTimestamp.IsZero() && m.Kind.Shared:
		return fmt.Errorf("its SharedTargetGroupBinding is being deleted: wait until it is gone")
	}
	return nil
}

func (m *Migration) judgeBackBeside(ctx context.Context, s *subject) error {
	switch {
	case s.twin == nil && of(s.books, m.standIn(s)).Empty():
		return nil
	case s.twin == nil:
		s.what = "what a run that was interrupted left in the table is removed"
		return nil
	case len(s.twin.OwnerReferences) > 0:
		return nil // made from annotations, which go first
	case s.old != nil && !s.alike():
		return fmt.Errorf("there is a TargetGroupBinding of that name with another spec")
	case s.old == nil && s.list != nil:
		return fmt.Errorf("there is a list of LBC's, ConfigMap %s, of an earlier time: delete it", s.list.object.Name)
	case !s.twin.DeletionTimestamp.IsZero() && s.twin.Annotations[v1beta1.DeletionPolicyAnnotation] == "":
		return fmt.Errorf("it is being deleted, and its targets leave")
	}
	s.what = "LBC takes over a TargetGroupBinding, SharedTargetGroupBinding goes"
	holder, err := m.lbcHolder(ctx)
	if err == nil && holder != "" && holder == s.twin.Annotations[heldBy] {
		err = fmt.Errorf("LBC remembers an old list of this binding: have its pods replaced (kubectl rollout restart), so that it reads a new one")
	}
	return err
}

func (m *Migration) judgeBackInstead(_ context.Context, s *subject) error {
	if s.old == nil {
		return nil
	}
	ours := controllerutil.ContainsFinalizer(s.old, v1beta1.Finalizer)
	record := of(s.books, m.owner(s, kind.TargetGroupBinding))
	if !ours && record.Empty() && of(s.books, m.standIn(s)).Empty() {
		return nil // LBC's already
	}
	if ready(s.old) == nil {
		return fmt.Errorf("its status has no condition Ready, by which this controller says that it leaves the binding to LBC: apply the CustomResourceDefinition of this controller, that of LBC drops conditions")
	}
	s.what = "LBC takes over, this controller's finalizer and record go"
	return nil
}
