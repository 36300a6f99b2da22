package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/cluster"
)

// silentFor is how long west has to see no heartbeat of east: several times
// the period of heartbeats.
const silentFor = 8 * time.Second

// lose deletes east, with all that runs in it.
func (s *stage) lose(ctx context.Context) error {
	s.say("Control plane, nodes and controller of east stop at once. Its pods are gone, so the load balancer's health checks "+
		"fail. Nobody has taken its targets out, and silence alone is no reason to: a cluster whose controller is down may "+
		"well be serving. Meanwhile west scales its Deployment from %d to %d pods.", replicas, replicas+2)
	before, err := s.look(ctx)
	if err != nil {
		return err
	}
	if err := s.deleteEast(before.held[s.east.name]); err != nil {
		return err
	}
	if err := s.west.app.Scale(ctx, replicas+2); err != nil {
		return err
	}
	if err := s.untilSettled(ctx); err != nil {
		return err
	}
	silence, err := s.untilSilent(ctx)
	if err != nil {
		return err
	}
	if err := s.show(ctx); err != nil {
		return err
	}
	shared, err := s.condition(ctx, s.west, v1beta1.ConditionOwnershipConsistent)
	if err != nil {
		return err
	}
	s.say("west's binding says: %s. In the registry west sees: %s.", shared.Message, silence)
	after, err := s.look(ctx)
	if err != nil {
		return err
	}
	return s.verify(
		expect("the record of east is as it was", difference(after.held[s.east.name], before.held[s.east.name])),
		expect("east's targets are in the group, and west's new ones too", difference(after.registered(), after.wanted())),
		s.ready(ctx, s.west),
		s.guard.harmless(),
	)
}

// deleteEast ends everything of east. Nothing answers at its targets.
func (s *stage) deleteEast(targets set) error {
	if err := s.east.controller.Kill(); err != nil {
		return err
	}
	s.east.controller = nil
	if err := s.stopCluster(s.east); err != nil {
		return err
	}
	for t := range targets {
		if err := s.elb.SetHealth(s.group.ARN, t, types.TargetHealthStateEnumUnhealthy); err != nil {
			return err
		}
	}
	return nil
}

// untilSilent watches the registry as west does, until east's heartbeat has
// stood still for some time.
func (s *stage) untilSilent(ctx context.Context) (string, error) {
	peers := cluster.NewPeers(s.table, s.west.name)
	silence := ""
	err := s.until(ctx, "east to be seen as silent", func(ctx context.Context) (string, error) {
		seen, err := peers.Observe(ctx)
		if err != nil {
			return "", err
		}
		east, known := seen[s.east.name]
		if !known {
			return "", fmt.Errorf("the registry has no entry for %s", s.east.name)
		}
		silence = fmt.Sprintf("%s, %s, silent for %s", s.east.name, east.State, east.Silent.Round(time.Second))
		if east.Silent < silentFor {
			return silence, nil
		}
		return "", nil
	})
	return silence, err
}
