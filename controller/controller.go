// Package controller puts the parts of the controller together.
package controller

// The rules of both roles stand as markers beside the code that needs them.
// The chart takes them from this file, and puts the namespace of the leader
// lease where it says system.
//
//go:generate ../bin/controller-gen rbac:roleName=target-ownership-controller,fileName=rbac.yaml paths=./... paths=../cmd/controller/... output:rbac:dir=../charts/target-ownership-controller/files

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller/audit"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/cluster"
	"target-ownership-controller/controller/kind"
	ctrlmetrics "target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
)

// Table is the ownership table.
type Table interface {
	ownership.Store
	ownership.Registry
	// Verify checks that the table is what the protocol needs.
	Verify(context.Context) error
}

// Options are what the controller works with. All but Leases are required.
type Options struct {
	Table  Table
	Groups binding.Groups

	ClusterID       string
	Version         string
	ComparePeriod   time.Duration // between two comparisons of a record with its group
	HeartbeatPeriod time.Duration
	Workers         int // bindings worked on at once, of each kind

	// Kinds are the kinds of bindings to work on.
	Kinds []kind.Kind

	// Trail writes the history; nil for none. Whoever made it flushes it once
	// the manager has ended.
	Trail *audit.Trail

	// Leases show that the AWS Load Balancer Controller runs in this cluster;
	// none means its default lease, in any namespace.
	Leases []types.NamespacedName
}

// Setup hands the parts of the controller to the manager. The manager's
// scheme has to know the kinds.
func Setup(ctx context.Context, mgr manager.Manager, o Options) error {
	gate := cluster.NewGate()
	if o.Trail != nil {
		if err := mgr.Add(o.Trail); err != nil {
			return err
		}
	}
	for _, k := range o.Kinds {
		if err := o.serve(ctx, mgr, gate, k); err != nil {
			return fmt.Errorf("set up the reconciler of kind %s: %w", k.Name, err)
		}
	}
	heartbeat := cluster.HeartbeatConfig{
		Live: mgr.GetAPIReader(), Registry: o.Table, Verify: o.Table.Verify, Gate: gate,
		ClusterID: o.ClusterID, ControllerVersion: o.Version, Interval: o.HeartbeatPeriod,
		NewID: uuid.NewString, Random: rand.Float64,
	}
	preflight := cluster.NewPreflight(heartbeat)
	if err := mgr.AddReadyzCheck("ownership", preflight.Check); err != nil {
		return err
	}
	peers := cluster.NewPeers(o.Table, o.ClusterID)
	for _, runnable := range []manager.Runnable{
		preflight,
		cluster.NewHeartbeat(heartbeat),
		peers,
	} {
		if err := mgr.Add(runnable); err != nil {
			return err
		}
	}
	ctrlmetrics.Info(o.ClusterID, o.Version)
	return watchPeers(peers)
}

// serve adds what works on the bindings of one kind.
func (o Options) serve(ctx context.Context, mgr manager.Manager, gate *cluster.Gate, k kind.Kind) error {
	reconciler := binding.Reconciler{
		Client:  mgr.GetClient(),
		Live:    mgr.GetAPIReader(),
		Groups:  o.Groups,
		Store:   o.Table,
		Gate:    cluster.Beside{Gate: gate},
		Events:  mgr.GetEventRecorder("target-ownership-controller"),
		Clock:   clock.RealClock{},
		NewID:   uuid.NewString,
		Options: binding.Options{Kind: k, ClusterID: o.ClusterID, Version: o.Version, ComparePeriod: o.ComparePeriod},
	}
	if o.Trail != nil {
		reconciler.Journal = o.Trail
	}
	if k.Name == kind.TargetGroupBinding.Name { // of which the other controller has bindings too
		reconciler.Gate = gate
		if err := mgr.Add(cluster.NewLoadBalancerControllerGuard(mgr.GetAPIReader(), gate, o.Leases...)); err != nil {
			return err
		}
	}
	bindings := binding.New(reconciler)
	if err := bindings.SetupWithManager(ctx, mgr, o.Workers, gate.Watch()); err != nil {
		return err
	}
	return mgr.Add(&binding.Orphans{Reconciler: bindings, Period: o.ComparePeriod})
}

// watchPeers replaces the peers of an earlier Setup in the same process.
func watchPeers(peers *cluster.Peers) error {
	collector := ctrlmetrics.Peers{Seen: peers.Seen}
	metrics.Registry.Unregister(collector)
	return metrics.Registry.Register(collector)
}
