package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LoadBalancerControllerLease is the default leader lease of the AWS Load
// Balancer Controller, in any namespace: its flag --leader-election-id has
// this default, and --leader-election-namespace is empty by default, which
// means the namespace of its pod
// (https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/deploy/configurations/).
var LoadBalancerControllerLease = types.NamespacedName{Name: "aws-load-balancer-controller-leader"}

const (
	leaseCheckInterval = 15 * time.Second
	leaseCheckTimeout  = 10 * time.Second
	// leaseMargin is for the retry period of a standby, 2 s by default, after
	// which it takes over a lease that has run out.
	leaseMargin = 5 * time.Second
	// defaultLeaseDuration is for a lease that does not name its own; it is
	// the default of controller-runtime.
	defaultLeaseDuration = 15 * time.Second
	// leftoverAge is how old the last renewal has to be, by the wall clocks of
	// two machines, for a lease to count as left over at first sight. If the
	// clocks differ by more, the next check sees the renewal.
	leftoverAge = time.Hour
	// blindFor is how long the last answer counts while checks fail.
	blindFor = time.Minute
)

// LoadBalancerControllerGuard keeps the gate closed while the AWS Load
// Balancer Controller leads in this cluster. It is a manager.Runnable of the
// leader.
//
// The leader does not give up its lease when it ends, so that a held lease
// says little. The lease counts as idle when it has no holder, or when it has
// stayed unchanged on our own clock for its duration and a margin. A
// controller that runs without leader election has no lease and is not
// noticed.
type LoadBalancerControllerGuard struct {
	live   client.Reader
	gate   *Gate
	leases []types.NamespacedName

	sightings map[types.NamespacedName]leaseSighting
	answered  time.Time // when the last successful check began
	outage    outage
}

// leaseSighting is the first time we saw a lease with this renewal.
type leaseSighting struct {
	holder   string
	renewed  time.Time
	first    time.Time
	renewing bool // we saw it change
	leftover bool // an hour old when we first saw it
}

// NewLoadBalancerControllerGuard returns a guard that has not begun, and
// closes the gate until its first answer. live is an uncached reader. A lease
// without a namespace is looked for in all of them; without any lease the
// guard takes [LoadBalancerControllerLease].
func NewLoadBalancerControllerGuard(live client.Reader, gate *Gate, leases ...types.NamespacedName) *LoadBalancerControllerGuard {
	if len(leases) == 0 {
		leases = []types.NamespacedName{LoadBalancerControllerLease}
	}
	gate.close(loadBalancerControllerKeeper, &LeaseUnreadableError{})
	return &LoadBalancerControllerGuard{live: live, gate: gate, leases: leases, outage: outage{name: "load-balancer-controller"}}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (g *LoadBalancerControllerGuard) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable. It returns nil when ctx ends.
func (g *LoadBalancerControllerGuard) Start(ctx context.Context) error {
	for pause(ctx, g.check(ctx)) {
	}
	return nil
}

// check looks at the leases once and returns when to look again.
func (g *LoadBalancerControllerGuard) check(ctx context.Context) time.Duration {
	began := time.Now()
	leases, err := g.read(ctx)
	if err != nil {
		g.unread(ctx, err)
		return leaseCheckInterval
	}
	g.outage.note(ctx, "", nil)
	g.answered = began
	g.sight(leases, time.Now())

	active, next := g.judge(leases, began)
	if active == nil {
		g.gate.open(loadBalancerControllerKeeper)
	} else {
		g.gate.close(loadBalancerControllerKeeper, active)
	}
	return next
}

// judge returns the first lease that may be in use, if any, and when to look
// again: no later than one of them may turn out to be idle.
func (g *LoadBalancerControllerGuard) judge(leases []coordinationv1.Lease, began time.Time) (active closure, next time.Duration) {
	next = leaseCheckInterval
	for _, lease := range leases {
		key := client.ObjectKeyFromObject(&lease)
		sighting := g.sightings[key]
		idle := duration(lease) + leaseMargin
		left := idle - began.Sub(sighting.first)
		if sighting.holder == "" || sighting.leftover || left <= 0 {
			continue
		}
		next = min(next, left)
		if active == nil {
			active = &LoadBalancerControllerError{Lease: key, Holder: sighting.holder, Renewing: sighting.renewing, Idle: idle}
		}
	}
	return active, next
}

// unread keeps the last answer for a while: an error is neither a running
// controller nor the absence of one.
func (g *LoadBalancerControllerGuard) unread(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	g.outage.note(ctx, "cannot check for the AWS Load Balancer Controller", err)
	if g.answered.IsZero() || time.Since(g.answered) >= blindFor {
		g.gate.close(loadBalancerControllerKeeper, &LeaseUnreadableError{Err: err})
	}
}

// A list by metadata.name, unlike one without, is allowed by a rule with
// resourceNames, and finds the lease in every namespace with one call.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=aws-load-balancer-controller-leader,verbs=list

func (g *LoadBalancerControllerGuard) read(ctx context.Context) ([]coordinationv1.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseCheckTimeout)
	defer cancel()
	var found []coordinationv1.Lease
	for _, lease := range g.leases {
		var list coordinationv1.LeaseList
		err := g.live.List(ctx, &list, client.InNamespace(lease.Namespace), client.MatchingFields{"metadata.name": lease.Name})
		if err != nil {
			return nil, fmt.Errorf("list leases named %s: %w", lease.Name, err)
		}
		found = append(found, list.Items...)
	}
	slices.SortFunc(found, func(a, b coordinationv1.Lease) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// sight compares the leases with those of the last check. Only the holder and
// the renewal count: an annotation that somebody sets renews nothing.
func (g *LoadBalancerControllerGuard) sight(leases []coordinationv1.Lease, now time.Time) {
	sightings := make(map[types.NamespacedName]leaseSighting, len(leases))
	for _, lease := range leases {
		key := client.ObjectKeyFromObject(&lease)
		holder, renewed := renewal(lease)
		last, seen := g.sightings[key]
		if !seen || last.holder != holder || !last.renewed.Equal(renewed) {
			last = leaseSighting{
				holder: holder, renewed: renewed, first: now, renewing: seen,
				leftover: !seen && !renewed.IsZero() && now.Sub(renewed) > leftoverAge,
			}
		}
		sightings[key] = last
	}
	g.sightings = sightings
}

func renewal(lease coordinationv1.Lease) (holder string, renewed time.Time) {
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	if lease.Spec.RenewTime != nil {
		renewed = lease.Spec.RenewTime.Time
	}
	return holder, renewed
}

func duration(lease coordinationv1.Lease) time.Duration {
	if s := lease.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		return time.Duration(*s) * time.Second
	}
	return defaultLeaseDuration
}
