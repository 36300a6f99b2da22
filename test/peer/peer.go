// Package peer is another way to share a target group, to compare with: one
// list of targets for each binding, kept in the cluster's own API server, as
// the AWS Load Balancer Controller documents it for multiClusterTargetGroup
// (https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/use_cases/multi_cluster/,
// kubernetes-sigs/aws-load-balancer-controller pull request 3853). It is
// written from that description, to run in ownership/simulation.
//
// A pass lists the group and compares it with the binding's endpoints. Targets
// that are no endpoints are deregistered if the list names them; a binding
// without a list deregisters nothing yet. Then the list becomes the endpoints,
// and then the endpoints that are not in the group are registered.
//
// Where the description leaves a choice, the one is taken that is better for
// it: every listing of the group may be used, the list is written whenever it
// differs from the endpoints, a write of it never lands after a later one, and
// a failed pass is repeated from its beginning.
package peer

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/simulation"
)

// Method is the ConfigMap method.
type Method struct {
	// SkipUnchanged ends a pass at once if the endpoints are those of the last
	// pass that went well, as the checkpoint annotation of a binding has it.
	// Without it every pass lists the group.
	SkipUnchanged bool
}

// Name implements [simulation.Method].
func (m Method) Name() string {
	if m.SkipUnchanged {
		return "list per binding, unchanged endpoints skipped"
	}
	return "list per binding, group listed in every pass"
}

// Start implements [simulation.Method].
func (m Method) Start(env simulation.Env) simulation.Reconciler {
	return &reconciler{method: m, env: env}
}

type reconciler struct {
	method Method
	env    simulation.Env

	tracked ownership.Set // the list as last read or written; nil: none known
	last    ownership.Set // the endpoints of the last pass that went well
}

// callTime is how long a call may take, as for every method.
const callTime = ownership.CallBudget

func (r *reconciler) Reconcile(ctx context.Context, b simulation.Binding) (simulation.Report, error) {
	if r.method.SkipUnchanged && r.last != nil && maps.Equal(r.last, b.Want) && !b.Deleted {
		return simulation.Report{InPlace: b.Want}, nil
	}
	r.last = nil
	if err := r.load(ctx); err != nil {
		return simulation.Report{}, err
	}
	members, err := r.env.Group.List()
	if err != nil {
		return simulation.Report{}, err
	}
	if err := r.deregister(minus(members, b.Want)); err != nil {
		return simulation.Report{}, err
	}
	if b.Deleted {
		return r.finish(ctx)
	}
	if err := r.save(ctx, b.Want); err != nil {
		return simulation.Report{}, err
	}
	if err := r.call(simulation.Register, minus(b.Want, members)); err != nil {
		return simulation.Report{}, err
	}
	r.last = b.Want
	return simulation.Report{InPlace: b.Want}, nil
}

// load reads the list once in the life of a process.
func (r *reconciler) load(ctx context.Context) error {
	if r.tracked != nil {
		return nil
	}
	tracked, found, err := r.env.List.Load(ctx)
	if err == nil && found {
		r.tracked = tracked
	}
	return err
}

// deregister takes out those of the targets that the list names.
func (r *reconciler) deregister(unmatched []ownership.Target) error {
	return r.call(simulation.Deregister, slices.DeleteFunc(unmatched, func(t ownership.Target) bool { return !r.tracked[t] }))
}

func (r *reconciler) save(ctx context.Context, want ownership.Set) error {
	if r.tracked != nil && maps.Equal(r.tracked, want) {
		return nil
	}
	if err := r.env.List.Save(ctx, want); err != nil {
		return err
	}
	r.tracked = want
	return nil
}

func (r *reconciler) finish(ctx context.Context) (simulation.Report, error) {
	if err := r.env.List.Delete(ctx); err != nil {
		return simulation.Report{}, err
	}
	r.tracked = nil
	return simulation.Report{Done: true}, nil
}

func (r *reconciler) call(v simulation.Verb, targets []ownership.Target) error {
	if len(targets) == 0 {
		return nil
	}
	result := r.env.Group.Call(v, targets, r.env.Now().Add(callTime))
	for _, errs := range []map[ownership.Target]error{result.Refused, result.Unsure} {
		for _, t := range slices.Sorted(maps.Keys(errs)) {
			return fmt.Errorf("%s %s: %w", v, t, errs[t])
		}
	}
	return nil
}

// minus are the targets of a that are not in b, in order.
func minus(a, b ownership.Set) []ownership.Target {
	var rest []ownership.Target
	for t := range a {
		if !b[t] {
			rest = append(rest, t)
		}
	}
	slices.Sort(rest)
	return rest
}
