package elbsim

import (
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// Health values with the reasons and descriptions that AWS gives (API
// reference, TargetHealth).
var (
	healthy        = Health{State: types.TargetHealthStateEnumHealthy}
	initial        = Health{types.TargetHealthStateEnumInitial, types.TargetHealthReasonEnumRegistrationInProgress, "Target registration is in progress"}
	unhealthy      = Health{types.TargetHealthStateEnumUnhealthy, types.TargetHealthReasonEnumFailedHealthChecks, "Health checks failed"}
	drainingHealth = Health{types.TargetHealthStateEnumDraining, types.TargetHealthReasonEnumDeregistrationInProgress, "Target deregistration is in progress"}
	notRegistered  = Health{types.TargetHealthStateEnumUnused, types.TargetHealthReasonEnumNotRegistered, "Target is not registered to the target group"}
	notInUse       = Health{types.TargetHealthStateEnumUnused, types.TargetHealthReasonEnumNotInUse, "Target group is not configured to receive traffic from the load balancer"}
	invalidState   = Health{types.TargetHealthStateEnumUnused, types.TargetHealthReasonEnumInvalidState, "Target is in the stopped or terminated state"}
)

// health is the state of one registration, the strongest reason first.
func (a *account) health(g *group, r *registration, now time.Time) Health {
	switch {
	case r.draining():
		return drainingHealth
	case a.instances[r.target.ID] != "" && a.instances[r.target.ID] != InstanceRunning:
		return invalidState
	case g.settings.Unused:
		return notInUse
	case r.healthForced != nil:
		return *r.healthForced
	case now.Before(r.since.Add(g.settings.InitialFor)):
		return initial
	}
	return healthy
}

// statuses lists the targets of a group, draining ones included, by key.
func (a *account) statuses(g *group, now time.Time) []TargetStatus {
	g.forgetDrained(now)
	all := make([]TargetStatus, 0, len(g.targets))
	for _, key := range slices.Sorted(maps.Keys(g.targets)) {
		r := g.targets[key]
		all = append(all, TargetStatus{r.target, a.health(g, r, now)})
	}
	return all
}

// targets is statuses by ARN; a group that does not exist has none.
func (a *account) targets(arn string, now time.Time) []TargetStatus {
	g, found := a.groups[arn]
	if !found {
		return nil
	}
	return a.statuses(g, now)
}

// statusesOf reports the asked targets only, in the order asked.
func (a *account) statusesOf(g *group, asked []Target, now time.Time) []TargetStatus {
	g.forgetDrained(now)
	some := make([]TargetStatus, 0, len(asked))
	for _, t := range asked {
		status := TargetStatus{t, notRegistered}
		if r, found := g.targets[t.Key()]; found {
			status = TargetStatus{r.target, a.health(g, r, now)}
		}
		some = append(some, status)
	}
	return some
}
