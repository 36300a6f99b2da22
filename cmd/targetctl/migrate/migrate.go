// Package migrate moves the bindings of a cluster from the AWS Load Balancer
// Controller (LBC) to this controller, and back, without a moment in which a
// target that is wanted is outside its group.
//
// The rule behind all steps: whoever takes over holds everything before the
// other one lets go, and what the other one leaves is taken out by the
// protocol. Every step looks at what is there first, so that a migration that
// was interrupted is run again from its beginning.
//
// LBC keeps no record that others can read, and it works from memory: a change
// of its list is not seen by a process that runs. So nothing here relies on its
// list being heeded, see lbc.go for what is relied on.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/history"
)

// Groups is the load balancer API, as far as a migration needs it.
type Groups interface {
	admin.Groups
	Group(context.Context, elb.GroupRef) (elb.Group, error)
}

// Options say what is migrated, and how.
type Options struct {
	// Kind is the kind of binding on this controller's side. With
	// SharedTargetGroupBinding LBC stays, with TargetGroupBinding one of the two
	// replaces the other.
	Kind      kind.Kind
	Namespace string // empty: all
	// Force takes out what LBC left also where it is healthy.
	Force bool
	// Timeout bounds each wait for a controller.
	Timeout time.Duration
	// Settle is how long calls of LBC may be under way.
	Settle time.Duration
	Poll   time.Duration
}

// DefaultOptions are those of the command line.
func DefaultOptions() Options {
	return Options{Kind: kind.SharedTargetGroupBinding, Timeout: 10 * time.Minute, Settle: ownership.Settle, Poll: time.Second}
}

// Migration is a migration of one cluster. It reads around all caches.
type Migration struct {
	Cluster client.Client
	Table   admin.Table
	Groups  Groups
	// Reaches reports whether Groups has a role for the groups of an account; nil
	// if it has none.
	Reaches func(account string) bool
	Options
	Version string
	// Say is called with each step, for people.
	Say func(string)
	// Tell, if there is one, is called with what was done to targets.
	Tell func(ownership.Key, []history.Event)

	id      string // of the cluster, in the table
	settled bool   // no call of LBC is under way
}

func (m *Migration) say(format string, args ...any) { m.Say(fmt.Sprintf(format, args...)) }

// identify finds the cluster's entry in the table by its fingerprint, so that
// nobody has to name it, or can name a wrong one.
func (m *Migration) identify(ctx context.Context) error {
	system := &corev1.Namespace{}
	if err := m.Cluster.Get(ctx, client.ObjectKey{Name: "kube-system"}, system); err != nil {
		return fmt.Errorf("read namespace kube-system, whose UID tells which cluster this is: %w", err)
	}
	read, err := m.Table.Clusters(ctx)
	if err != nil {
		return err
	}
	for _, c := range read.Clusters {
		if c.Fingerprint != string(system.UID) {
			continue
		}
		if c.State != ownership.ClusterActive {
			return fmt.Errorf("cluster %s is %s: its controller registers nothing; targetctl cluster undrain %s first", c.ID, c.State, c.ID)
		}
		m.id = c.ID
		return nil
	}
	return errors.New("the table has no entry of the cluster that the kubeconfig names: start this controller there first, beside LBC, with --binding-kinds=SharedTargetGroupBinding, or choose another context or table")
}

// Run carries out a plan that [Migration.Plan] or [Migration.PlanBack] made.
func (m *Migration) Run(ctx context.Context, p Plan) error {
	var work []*subject
	for _, s := range p.subjects {
		if s.what != "" && s.obstacle == "" {
			work = append(work, s)
		}
	}
	for _, step := range p.steps {
		for _, s := range work {
			if err := step(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
	}
	return nil
}

// sayAgain is how often progress is told at most.
const sayAgain = 15 * time.Second

// until polls until check has nothing left to wait for.
func (m *Migration) until(ctx context.Context, what string, check func(context.Context) (left string, err error)) error {
	deadline, last, said := time.Now().Add(m.Timeout), "", time.Time{}
	for {
		left, err := check(ctx)
		if err != nil {
			return err
		}
		if left == "" {
			return nil
		}
		if left != last && time.Since(said) > sayAgain {
			m.say("waiting until %s: %s", what, left)
			last, said = left, time.Now()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s in vain until %s: %s; what was done stays, run the command again to go on", m.Timeout, what, left)
		}
		if err := admin.Wait(ctx, m.Poll); err != nil {
			return err
		}
	}
}
