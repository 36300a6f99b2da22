package elbsim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// account is the simulated state: plain data and rules. It knows nothing of
// HTTP, faults or locks; the time is an argument.
type account struct {
	region    string
	id        string
	random    *rand.Rand
	defaults  Settings
	groups    map[string]*group // by ARN
	instances map[string]InstanceState
	roles     map[string]Role    // by ARN
	sessions  map[string]session // by access key ID
}

// createGroup is idempotent for equal settings (API reference,
// CreateTargetGroup) and refuses the name of a different group.
func (a *account) createGroup(g Group) (Group, *Error) {
	g = g.withDefaults()
	if err := g.validate(); err != nil {
		return Group{}, err
	}
	if same := a.groupNamed(g.Name); same != nil {
		if same.sameAs(g) {
			return same.Group, nil
		}
		return Group{}, badRequest("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", g.Name)
	}
	g.ARN = fmt.Sprintf("arn:aws:elasticloadbalancing:%s:%s:targetgroup/%s/%016x", a.region, a.id, g.Name, a.random.Uint64())
	a.groups[g.ARN] = newGroup(g, a.defaults)
	return g, nil
}

func (a *account) groupNamed(name string) *group {
	for _, g := range a.groups {
		if g.Name == name && a.owns(g.ARN) {
			return g
		}
	}
	return nil
}

// group finds a group by ARN. A string that is no target group ARN is a
// ValidationError, as AWS answers it, not a TargetGroupNotFound.
func (a *account) group(arn string) (*group, *Error) {
	if !groupARN.MatchString(arn) {
		return nil, validationError("'%s' is not a valid target group ARN", arn)
	}
	g, found := a.groups[arn]
	if !found || !a.owns(arn) {
		return nil, targetGroupNotFound(arn)
	}
	return g, nil
}

// describeGroups selects groups by ARN or name, all if neither is given, in the
// order of their names. One that is missing refuses the whole call.
func (a *account) describeGroups(arns, names []string) ([]Group, *Error) {
	selected := map[string]Group{}
	for _, arn := range arns {
		g, err := a.group(arn)
		if err != nil && err.Code == "ValidationError" {
			return nil, err
		}
		if err != nil {
			return nil, badRequest("TargetGroupNotFound", "One or more target groups not found")
		}
		selected[g.Name] = g.Group
	}
	for _, name := range names {
		g := a.groupNamed(name)
		if g == nil {
			return nil, badRequest("TargetGroupNotFound", "One or more target groups not found")
		}
		selected[g.Name] = g.Group
	}
	if len(arns)+len(names) == 0 {
		for arn, g := range a.groups {
			if a.owns(arn) {
				selected[g.Name] = g.Group
			}
		}
	}
	ordered := make([]Group, 0, len(selected))
	for _, name := range slices.Sorted(maps.Keys(selected)) {
		ordered = append(ordered, selected[name])
	}
	return ordered, nil
}

// register puts targets into the group, all or none. A draining target is
// taken back and starts over. That is what AWS was seen to do for instances
// (ansible/ansible#58995) and what the AWS Load Balancer Controller relies on
// for addresses, though the ALB user guide ("Register targets") says that an
// address must first have drained.
func (a *account) register(g *group, targets []Target, now time.Time) *Error {
	g.forgetDrained(now)
	targets, err := a.admissible(g, targets)
	if err != nil {
		return err
	}
	if g.countWith(targets) > g.settings.Quota {
		return badRequest("TooManyTargets", "The maximum number of targets per target group '%d' has been reached on target group '%s'", g.settings.Quota, g.ARN)
	}
	for _, t := range targets {
		if r, found := g.targets[t.Key()]; !found || r.draining() {
			g.targets[t.Key()] = &registration{target: t, since: now}
		}
	}
	return nil
}

// countWith is the number of targets that count against the quota once the
// given ones are registered.
func (g *group) countWith(targets []Target) int {
	counted := map[string]bool{}
	for key, r := range g.targets {
		if !r.draining() || g.settings.DrainingCounts {
			counted[key] = true
		}
	}
	for _, t := range targets {
		counted[t.Key()] = true
	}
	return len(counted)
}

// deregister starts the drain of the targets. A target that is not registered
// is no error (API reference, DeregisterTargets: "If the specified target does
// not exist, the action returns successfully"; LocalStack discussion 61 reports
// the same of AWS). A target that drains already goes on draining: its delay
// does not start again.
func (a *account) deregister(g *group, targets []Target, now time.Time) {
	for _, t := range targets {
		if r, found := g.targets[t.Key()]; found && !r.draining() && !g.overlooks(r.target, t) {
			r.drainedAt = now.Add(g.deregistrationDelay())
		}
	}
	g.forgetDrained(now)
}

func (g *group) overlooks(registered, named Target) bool {
	return g.settings.ZonedDeregistration && registered.Zone == allZones && named.Zone != allZones
}
