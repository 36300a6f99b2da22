package elbsim_test

import (
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

const (
	target         = "10.0.0.1:80"
	healthy        = "healthy"
	initial        = "initial Elb.RegistrationInProgress"
	unhealthy      = "unhealthy Target.FailedHealthChecks"
	draining       = "draining Target.DeregistrationInProgress"
	notRegistered  = "unused Target.NotRegistered"
	notInUse       = "unused Target.NotInUse"
	invalidState   = "unused Target.InvalidState"
	defaultDrainBy = 300 * time.Second
)

func is(state string) map[string]string { return map[string]string{target: state} }

func TestLifeOfATarget(t *testing.T) {
	b := newBench(t)
	b.Configure(func(s *elbsim.Settings) { s.InitialFor = 10 * time.Second })

	b.Expect(b.health(target)).To(Equal(is(notRegistered)))
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.health()).To(Equal(is(initial)))
	b.clock.advance(10*time.Second - 1)
	b.Expect(b.health()).To(Equal(is(initial)))
	b.clock.advance(1)
	b.Expect(b.health()).To(Equal(is(healthy)))

	b.Expect(b.register(target)).To(Succeed(), "again")
	b.Expect(b.health()).To(Equal(is(healthy)), "registering a present target does not start it over")

	b.Expect(b.deregister(target)).To(Succeed())
	b.clock.advance(defaultDrainBy - 1)
	b.Expect(b.health()).To(Equal(is(draining)))
	b.Expect(b.Registered(b.arn)).To(BeEmpty())
	b.clock.advance(1)
	b.Expect(b.health()).To(BeEmpty())
	b.Expect(b.health(target)).To(Equal(is(notRegistered)))
}

func TestTargetIsHealthyAtOnceByDefault(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.health()).To(Equal(is(healthy)))
}

func TestDrainingTargetIsTakenBack(t *testing.T) {
	b := newBench(t)
	b.Configure(func(s *elbsim.Settings) { s.InitialFor = time.Minute })
	b.Expect(b.register(target)).To(Succeed())
	b.clock.advance(time.Hour)
	b.Expect(b.deregister(target)).To(Succeed())
	b.clock.advance(time.Second)
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.health()).To(Equal(is(initial)))
	b.clock.advance(defaultDrainBy)
	b.Expect(b.health()).To(Equal(is(healthy)), "the old drain is forgotten")
}

func TestDeregisteringAgainDoesNotProlongTheDrain(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.deregister(target)).To(Succeed())
	b.clock.advance(defaultDrainBy - time.Second)
	b.Expect(b.deregister(target)).To(Succeed())
	b.clock.advance(time.Second)
	b.Expect(b.health()).To(BeEmpty())
}

func TestDeregisteringAnAbsentTargetSucceeds(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.deregister("10.0.0.2:80")).To(Succeed())
	b.Expect(b.health()).To(Equal(is(healthy)), "and it does not appear as draining")
}

func TestSetHealth(t *testing.T) {
	b := newBench(t)
	b.Expect(b.SetHealth(b.arn, target, types.TargetHealthStateEnumUnhealthy)).To(MatchError(ContainSubstring("not registered")))
	b.Expect(b.register(target)).To(Succeed())

	b.Expect(b.SetHealth(b.arn, target, types.TargetHealthStateEnumUnhealthy)).To(Succeed())
	b.Expect(b.health()).To(Equal(is(unhealthy)))
	b.Expect(b.SetHealth(b.arn, target, "")).To(Succeed())
	b.Expect(b.health()).To(Equal(is(healthy)))

	b.Expect(b.SetHealth(b.arn, target, types.TargetHealthStateEnumUnhealthy)).To(Succeed())
	b.Expect(b.deregister(target)).To(Succeed())
	b.Expect(b.health()).To(Equal(is(draining)))
	b.Expect(b.SetHealth(b.arn, target, types.TargetHealthStateEnumHealthy)).To(MatchError(ContainSubstring("not registered")))
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.health()).To(Equal(is(healthy)), "a set state ends with the registration")

	b.Expect(b.SetHealth(b.arn, target, types.TargetHealthStateEnumDraining)).To(MatchError(ContainSubstring("cannot be set")))
	b.Expect(b.SetHealth(noSuchGroup, target, "")).To(MatchError(ContainSubstring(noSuchGroup)))
}

func TestUnusedGroupAndStoppedInstance(t *testing.T) {
	b := newBench(t, instances)
	b.Expect(b.register("i-01:80", "i-02:80")).To(Succeed())
	b.SetInstance("i-01", elbsim.InstanceNotRunning)
	b.Expect(b.health()).To(Equal(map[string]string{"i-01:80": invalidState, "i-02:80": healthy}))
	b.Configure(func(s *elbsim.Settings) { s.Unused = true })
	b.Expect(b.health("i-02:80")).To(Equal(map[string]string{"i-02:80": notInUse}))
	b.Expect(b.Registered(b.arn)).To(Equal([]string{"i-01:80", "i-02:80"}), "unused targets are registered all the same")
}

func TestZoneIsFilledInForAddresses(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register(target)).To(Succeed())
	out, err := b.elb.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &b.arn})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(out.TargetHealthDescriptions[0].Target.AvailabilityZone).To(HaveValue(Equal("us-east-1a")))
	b.Expect(out.TargetHealthDescriptions[0].HealthCheckPort).To(HaveValue(Equal("80")))
}
