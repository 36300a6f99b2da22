package elb_test

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// Field case 23: 1,500 pods, in chunks.
func TestManyTargets(t *testing.T) {
	f := start(t, "ip", 2000)
	targets := pods(0, 1500)
	f.Expect(f.register(targets...).Done).To(Equal(targets))
	f.Expect(f.inGroup()).To(Equal(targets))
	f.Expect(f.sim.Count("", "RegisterTargets")).To(Equal(8))

	states, err := f.client.Health(context.Background(), f.group)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(states).To(HaveLen(1500))
	f.Expect(states[targets[7]]).To(Equal(elb.Healthy))

	f.Expect(f.deregister(targets...).Done).To(Equal(targets))
	f.Expect(f.inGroup()).To(BeEmpty())
	f.Expect(f.sim.Count("", "DeregisterTargets")).To(Equal(8))
	states, err = f.client.Health(context.Background(), f.group)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(states[targets[7]]).To(Equal(elb.Draining))
}

// Field case 15: ten nodes, one is shutting down, and AWS refuses the whole
// call. Nine are registered all the same.
func TestOneInstanceShuttingDown(t *testing.T) {
	f := start(t, "instance", 100)
	nodes := []ownership.Target{"i-00:30080", "i-01:30080", "i-02:30080", "i-03:30080", "i-04:30080",
		"i-05:30080", "i-06:30080", "i-07:30080", "i-08:30080", "i-09:30080"}
	f.sim.SetInstance("i-06", elbsim.InstanceNotRunning)

	result := f.register(nodes...)
	f.Expect(f.inGroup()).To(HaveLen(9))
	f.Expect(f.inGroup()).NotTo(ContainElement(nodes[6]))
	f.Expect(result.Done).To(HaveLen(9))
	f.Expect(result.Refused).To(HaveLen(1))
	f.Expect(result.Refused[nodes[6]]).To(MatchError(ownership.ErrInvalidTarget))
	f.Expect(result.Refused[nodes[6]]).To(MatchError(ContainSubstring("not in a running state")))
	f.Expect(f.sim.Count("", "RegisterTargets")).To(BeNumerically("<=", 9))
}

// An address that the group cannot take is a validation error to AWS.
func TestOneAddressOfTheWrongFamily(t *testing.T) {
	f := start(t, "ip", 100)
	result := f.register("10.0.0.1:8080", "10.0.0.2:8080", "[2001:db8::5]:8080")
	f.Expect(f.inGroup()).To(Equal([]ownership.Target{"10.0.0.1:8080", "10.0.0.2:8080"}))
	f.Expect(result.Refused["[2001:db8::5]:8080"]).To(MatchError(ownership.ErrInvalidTarget))
}

func TestRoomForHalf(t *testing.T) {
	f := start(t, "ip", 100)
	present, wanted := pods(0, 70), pods(1, 60)
	f.register(present...)
	f.sim.ClearJournal()

	result := f.register(wanted...)
	f.Expect(result.Done).To(Equal(wanted[:30]))
	f.Expect(f.inGroup()).To(ConsistOf(append(present, wanted[:30]...)))
	f.Expect(result.Refused).To(HaveLen(30))
	for _, target := range wanted[30:] {
		f.Expect(result.Refused[target]).To(MatchError(ownership.ErrGroupFull))
	}
	f.Expect(f.sim.Count("", "RegisterTargets")).To(BeNumerically("<=", 13), "one call and two for each halving")
}

func TestDeregisterAbsentTargets(t *testing.T) {
	f := start(t, "ip", 100)
	targets := pods(0, 3)
	f.register(targets[0])
	f.Expect(f.deregister(targets...).Done).To(Equal(targets))
	f.Expect(f.inGroup()).To(BeEmpty())
}

func TestExpiredPermission(t *testing.T) {
	f := start(t, "ip", 100)
	targets := pods(0, 2)
	f.register(targets[1])
	f.sim.ClearJournal()
	past := func() time.Time { return time.Now().Add(-ownership.CallBudget - time.Second) }
	in, out := f.permitsAt(past, targets[:1], targets[1:])

	f.Expect(f.client.Register(context.Background(), in).Refused[targets[0]]).To(MatchError(ownership.ErrLookExpired))
	f.Expect(f.client.Deregister(context.Background(), out).Refused[targets[1]]).To(MatchError(ownership.ErrLookExpired))
	f.Expect(f.sim.Journal()).To(BeEmpty())
	f.Expect(f.inGroup()).To(Equal(targets[1:]))
}

func TestGroupByNameAndARN(t *testing.T) {
	f := start(t, "ip", 100)
	want := elb.Group{ARN: f.group, Name: "web", TargetType: "ip", Protocol: "TCP", IPAddressType: "ipv4", VPCID: "vpc-1"}
	for _, ref := range []elb.GroupRef{{Name: "web"}, {ARN: string(f.group)}} {
		f.Expect(f.client.Group(context.Background(), ref)).To(Equal(want))
	}
	_, err := f.client.Group(context.Background(), elb.GroupRef{Name: "wep"})
	f.Expect(err).To(MatchError(ownership.ErrGroupMissing))
}

// What the load balancer says of a target comes with its reason.
func TestReasonsOfHealth(t *testing.T) {
	f := start(t, "ip", 100)
	targets := pods(0, 2)
	f.register(targets...)
	f.Expect(f.sim.SetHealth(string(f.group), string(targets[1]), "unhealthy")).To(Succeed())
	health, err := f.client.Targets(context.Background(), f.group)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(health).To(Equal(map[ownership.Target]elb.Health{
		targets[0]: {State: elb.Healthy},
		targets[1]: {State: elb.Unhealthy, Reason: "Target.FailedHealthChecks", Description: "Health checks failed"},
	}))
}
