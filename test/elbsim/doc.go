// Package elbsim simulates the part of Elastic Load Balancing v2 that a
// controller of target groups uses. It speaks the real wire protocol (AWS
// Query, API version 2015-12-01), so the real SDK client talks to it:
//
//	sim := elbsim.New(elbsim.Options{Now: clock.Now})
//	if _, err := sim.Start(); err != nil { ... }
//	defer sim.Close()
//	group, _ := sim.CreateGroup(elbsim.Group{Name: "web", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: "ip"})
//	client := sim.Client("cluster-a")
//
// What a test can steer while it runs:
//
//   - time: every state change follows the injected clock; nothing sleeps but
//     an injected latency;
//   - rules of a group ([Settings]): quota, time in the initial state, VPC
//     address ranges; and of instances ([Simulator.SetInstance]);
//   - health of a target ([Simulator.SetHealth]);
//   - faults ([Rule], [Simulator.Intercept]): latency, refusals, lost replies,
//     calls that land after the caller has given up ([Simulator.Land]).
//
// What a test can see: the targets of a group ([Simulator.Targets]), the
// journal of all calls ([Simulator.Journal]), and each mutation as it happens
// ([Simulator.Observe]).
//
// Roles of other accounts can be assumed ([Simulator.SetRole]), by the endpoint of
// AWS STS that the same URL is.
//
// Signatures are not checked: the access key ID of the request is taken as the
// name of the caller. Load balancers, listeners and rules do not exist here; a
// group behaves as if one load balancer used it, unless Settings.Unused is set.
package elbsim
