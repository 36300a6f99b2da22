package elb_test

import (
	"context"
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

// The calls that are refused for a reason, and how often they are attempted.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		refuse   *elbsim.Error
		class    error
		attempts int
	}{
		"throttled": {elbsim.Throttled(), ownership.ErrGroupThrottled, 3},
		"forbidden": {elbsim.AccessDenied(), ownership.ErrGroupForbidden, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, "ip", 1000)
			targets := pods(0, 250)
			f.sim.Inject(elbsim.Rule{Action: "RegisterTargets", Fault: elbsim.Fault{Refuse: c.refuse}})
			result := f.register(targets...)

			f.Expect(result.Refused).To(HaveLen(250))
			f.Expect(result.Refused[targets[0]]).To(MatchError(c.class))
			f.Expect(result.Refused[targets[249]]).To(MatchError(c.class))
			f.Expect(f.inGroup()).To(BeEmpty())
			f.Expect(f.sim.Count("", "RegisterTargets")).To(Equal(c.attempts), "the second chunk is not sent")
		})
	}
}

func TestThrottledOnce(t *testing.T) {
	t.Parallel()
	f := start(t, "ip", 100)
	targets := pods(0, 2)
	f.register(targets...)
	f.sim.ClearJournal()
	f.sim.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	f.Expect(f.deregister(targets...).Done).To(Equal(targets))
	f.Expect(f.sim.Count("", "DeregisterTargets")).To(Equal(2))
}

func TestMissingGroup(t *testing.T) {
	f := start(t, "ip", 100)
	_, err := f.sim.Client("operator").DeleteTargetGroup(context.Background(),
		&elbv2.DeleteTargetGroupInput{TargetGroupArn: (*string)(&f.group)})
	f.Expect(err).NotTo(HaveOccurred())

	f.Expect(f.register("10.0.0.1:80").Refused["10.0.0.1:80"]).To(MatchError(ownership.ErrGroupMissing))
	f.Expect(f.deregister("10.0.0.1:80").Refused["10.0.0.1:80"]).To(MatchError(ownership.ErrGroupMissing))
	_, err = f.client.Health(context.Background(), f.group)
	f.Expect(err).To(MatchError(ownership.ErrGroupMissing))
	_, err = f.client.Group(context.Background(), elb.GroupRef{ARN: string(f.group)})
	f.Expect(err).To(MatchError(ownership.ErrGroupMissing))
}

// What is in doubt is never sent again, neither by the SDK nor by us.
func TestMutationsInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		fault   elbsim.Fault
		applied int
	}{
		"reply lost":       {elbsim.Fault{DropReply: true}, 1},
		"lands later":      {elbsim.Fault{Late: true}, 0},
		"unavailable":      {elbsim.Fault{Refuse: elbsim.Unavailable()}, 0},
		"internal failure": {elbsim.Fault{Refuse: elbsim.InternalFailure()}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, "ip", 100)
			in, out := pods(0, 1)[0], pods(1, 1)[0]
			f.register(out)
			f.sim.ClearJournal()
			f.sim.Inject(elbsim.Rule{Fault: c.fault})

			f.Expect(f.register(in).Unsure[in]).To(MatchError(ownership.ErrGroupUnavailable))
			f.Expect(f.deregister(out).Unsure[out]).To(MatchError(ownership.ErrGroupUnavailable))
			f.Expect(f.sim.Count("", "RegisterTargets")).To(Equal(1))
			f.Expect(f.sim.Count("", "DeregisterTargets")).To(Equal(1))
			want := out
			if c.applied == 1 {
				want = in
			}
			f.Expect(f.inGroup()).To(Equal([]ownership.Target{want}))
		})
	}
}

func TestAnswerThatComesTooLate(t *testing.T) {
	f := start(t, "ip", 100)
	f.sim.Inject(elbsim.Rule{Fault: elbsim.Fault{Latency: time.Minute}})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	in, _ := f.permits(pods(0, 1), nil)
	result := f.client.Register(ctx, in)
	f.Expect(result.Unsure).To(HaveLen(1))
	f.Eventually(f.inGroup).Should(HaveLen(1), "given up, and applied all the same")
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	f := start(t, "ip", 100)
	f.sim.Close()
	result := f.register("10.0.0.1:80")
	f.Expect(result.Unsure).To(BeEmpty(), "nothing was sent")
	f.Expect(result.Refused["10.0.0.1:80"]).To(MatchError(ownership.ErrGroupUnavailable))
}

// Reads are repeated after all that the SDK takes for temporary.
func TestReadsAreRetried(t *testing.T) {
	for name, fault := range map[string]elbsim.Fault{
		"unavailable": {Refuse: elbsim.Unavailable()},
		"throttled":   {Refuse: elbsim.Throttled()},
		"reply lost":  {DropReply: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, "ip", 100)
			f.register(pods(0, 3)...)
			f.sim.Inject(elbsim.Rule{Action: "DescribeTargetHealth", Times: 1, Fault: fault})
			states, err := f.client.Health(context.Background(), f.group)
			f.Expect(err).NotTo(HaveOccurred())
			f.Expect(states).To(HaveLen(3))
			f.Expect(f.sim.Count("", "DescribeTargetHealth")).To(Equal(2))
		})
	}
}

func TestReadsThatFail(t *testing.T) {
	f := start(t, "ip", 100)
	f.sim.Inject(elbsim.Rule{Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
	_, err := f.client.Group(context.Background(), elb.GroupRef{ARN: string(f.group)})
	f.Expect(err).To(MatchError(ownership.ErrGroupForbidden))
	states, err := f.client.Health(context.Background(), f.group)
	f.Expect(err).To(MatchError(ownership.ErrGroupForbidden))
	f.Expect(states).To(BeNil())
}

// A retry is a call, and takes a token of the rate limit like any other.
func TestRetriesCountAgainstTheRateLimit(t *testing.T) {
	t.Parallel()
	f := start(t, "ip", 100)
	client := elb.New(f.sim.Client("cluster-b"), elb.Options{Limits: elb.Limits{Mutations: elb.Limit{PerSecond: 0.01, Burst: 1}}})
	f.sim.Inject(elbsim.Rule{Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	targets := pods(0, 1)
	in, _ := f.permits(targets, nil)
	f.Expect(client.Register(context.Background(), in).Refused[targets[0]]).To(MatchError(ownership.ErrGroupThrottled))
	f.Expect(f.sim.Count("cluster-b", "")).To(Equal(1))
}
