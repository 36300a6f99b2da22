package elbsim

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// CreateGroup makes a target group without a call in the journal. The error is
// what CreateTargetGroup would answer.
func (s *Simulator) CreateGroup(g Group) (Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	created, err := s.account.createGroup(g)
	if err != nil {
		return Group{}, fmt.Errorf("create target group %q: %w", g.Name, err)
	}
	return created, nil
}

// Configure changes the settings of all groups and of those yet to come.
func (s *Simulator) Configure(change func(*Settings)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	change(&s.account.defaults)
	for _, g := range s.account.groups {
		change(&g.settings)
	}
}

// ConfigureGroup changes the settings of one group.
func (s *Simulator) ConfigureGroup(arn string, change func(*Settings)) error {
	return s.withGroup(arn, func(g *group) error {
		change(&g.settings)
		return nil
	})
}

// SetInstance changes the state of an instance, for all groups.
func (s *Simulator) SetInstance(id string, state InstanceState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	s.account.instances[id] = state
}

// SetHealth makes a registered target healthy, unhealthy or initial until it
// leaves the group; the empty state lets the clock decide again. The other
// states follow from what happens to the target and cannot be set.
func (s *Simulator) SetHealth(arn, target string, state types.TargetHealthStateEnum) error {
	health, err := settable(state)
	if err != nil {
		return err
	}
	t, err := ParseTarget(target)
	if err != nil {
		return err
	}
	return s.withGroup(arn, func(g *group) error {
		r, found := g.targets[t.Key()]
		if !found || r.draining() {
			return fmt.Errorf("target %s is not registered in %s", target, arn)
		}
		r.healthForced = health
		return nil
	})
}

func settable(state types.TargetHealthStateEnum) (*Health, error) {
	switch state {
	case "":
		return nil, nil
	case types.TargetHealthStateEnumHealthy:
		return &healthy, nil
	case types.TargetHealthStateEnumUnhealthy:
		return &unhealthy, nil
	case types.TargetHealthStateEnumInitial:
		return &initial, nil
	}
	return nil, fmt.Errorf("health state %q cannot be set: choose healthy, unhealthy, initial or nothing", state)
}

// Targets lists the targets of a group by key, draining ones included. A group
// that does not exist has none.
func (s *Simulator) Targets(arn string) []TargetStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.account.targets(arn, s.settle())
}

// Registered lists the keys of the targets of a group that are not draining.
func (s *Simulator) Registered(arn string) []string { return Registered(s.Targets(arn)) }

// Registered lists the keys of those targets that are not draining.
func Registered(targets []TargetStatus) []string {
	keys := []string{}
	for _, t := range targets {
		if t.Registered() {
			keys = append(keys, t.Target.Key())
		}
	}
	return keys
}

func (s *Simulator) withGroup(arn string, change func(*group) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, found := s.account.groups[arn]
	if !found {
		return errors.New("no target group " + arn)
	}
	g.forgetDrained(s.settle())
	return change(g)
}
