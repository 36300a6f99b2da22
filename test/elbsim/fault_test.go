package elbsim_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

func TestRefusalsReachTheSDK(t *testing.T) {
	for want, refusal := range map[string]*elbsim.Error{
		"Throttling":         elbsim.Throttled(),
		"AccessDenied":       elbsim.AccessDenied(),
		"ServiceUnavailable": elbsim.Unavailable(),
		"InternalFailure":    elbsim.InternalFailure(),
	} {
		t.Run(want, func(t *testing.T) {
			b := newBench(t)
			b.Inject(elbsim.Rule{Fault: elbsim.Fault{Refuse: refusal}})
			err := b.register(target)
			b.Expect(code(err)).To(Equal(want))
			b.Expect(b.Targets(b.arn)).To(BeEmpty())

			retryable := want != "AccessDenied"
			b.Expect(retry.NewStandard().IsErrorRetryable(err)).To(Equal(retryable))
		})
	}
}

func TestRuleEndsByCount(t *testing.T) {
	b := newBench(t)
	b.Inject(elbsim.Rule{Action: "RegisterTargets", Times: 2, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	b.Expect(b.deregister(target)).To(Succeed(), "another action")
	b.Expect(code(b.register(target))).To(Equal("Throttling"))
	b.Expect(code(b.register(target))).To(Equal("Throttling"))
	b.Expect(b.register(target)).To(Succeed())
}

func TestRuleEndsByTime(t *testing.T) {
	b := newBench(t)
	b.Inject(elbsim.Rule{For: time.Minute, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	b.clock.advance(time.Minute - 1)
	b.Expect(code(b.register(target))).To(Equal("Throttling"))
	b.clock.advance(1)
	b.Expect(b.register(target)).To(Succeed())
}

func TestRulesSelectCallerAndGroup(t *testing.T) {
	b := newBench(t)
	b.Inject(elbsim.Rule{Caller: "cluster-b", Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
	b.Inject(elbsim.Rule{Group: noSuchGroup, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	b.Expect(b.register(target)).To(Succeed())
	b.elb = b.Client("cluster-b")
	b.Expect(code(b.register(target))).To(Equal("AccessDenied"))
	b.elb, b.arn = b.Client("cluster-a"), noSuchGroup
	b.Expect(code(b.register(target))).To(Equal("Throttling"))
	b.ClearRules()
	b.Expect(code(b.register(target))).To(Equal("TargetGroupNotFound"))
}

func TestChanceIsSeeded(t *testing.T) {
	draw := func() (refused []int) {
		b := newBench(t)
		b.Inject(elbsim.Rule{Chance: 0.5, Fault: elbsim.Fault{Refuse: elbsim.Unavailable()}})
		for i := range 40 {
			if b.register(target) != nil {
				refused = append(refused, i)
			}
		}
		return refused
	}
	g := NewWithT(t)
	first := draw()
	g.Expect(len(first)).To(And(BeNumerically(">", 8), BeNumerically("<", 32)))
	g.Expect(draw()).To(Equal(first))
}

func TestInterceptDecidesWhatNoRuleHits(t *testing.T) {
	b := newBench(t)
	var seen []elbsim.Call
	b.Intercept(func(call elbsim.Call) elbsim.Fault {
		seen = append(seen, call)
		return elbsim.Fault{Refuse: elbsim.Unavailable()}
	})
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}})
	b.Expect(code(b.register(target))).To(Equal("Throttling"))
	b.Expect(code(b.register(target))).To(Equal("ServiceUnavailable"))
	b.Expect(seen).To(Equal([]elbsim.Call{{
		ID: 2, Time: b.clock.Now(), Caller: "cluster-a", Action: "RegisterTargets", Group: b.arn, Targets: []string{target},
	}}))
}

func TestDroppedReplyIsApplied(t *testing.T) {
	b := newBench(t)
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{DropReply: true}})
	b.Expect(code(b.register(target))).To(Equal(noAnswer))
	b.Expect(b.health()).To(Equal(is(healthy)))
}

func TestRetryAfterADroppedReplySucceeds(t *testing.T) {
	b := newBench(t)
	b.elb = b.Client("cluster-a", func(o *elbv2.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{DropReply: true}})
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(b.Count("cluster-a", "RegisterTargets")).To(Equal(2))
}

func TestLateCallLandsWhenTold(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register(target)).To(Succeed())
	b.Inject(elbsim.Rule{Action: "DeregisterTargets", Times: 1, Fault: elbsim.Fault{Late: true}})
	b.Expect(code(b.deregister(target))).To(Equal(noAnswer))
	b.clock.advance(24 * time.Hour)
	b.Expect(b.health()).To(Equal(is(healthy)))
	b.Expect(b.Land()).To(Equal(1))
	b.Expect(b.health()).To(Equal(is(draining)))
	b.Expect(b.Land()).To(BeZero())
}

func TestLateReadIsLost(t *testing.T) {
	b := newBench(t)
	b.Inject(elbsim.Rule{Fault: elbsim.Fault{Late: true}})
	_, err := b.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{})
	b.Expect(code(err)).To(Equal(noAnswer))
	b.Expect(b.Land()).To(BeZero())
}

func TestLateCallLandsByTheClock(t *testing.T) {
	b := newBench(t)
	b.setDelay("10")
	b.Expect(b.register(target)).To(Succeed())
	b.Inject(elbsim.Rule{Action: "DeregisterTargets", Times: 1, Fault: elbsim.Fault{Late: true, LateBy: time.Minute}})
	b.Expect(code(b.deregister(target))).To(Equal(noAnswer))
	b.clock.advance(time.Minute - 1)
	b.Expect(b.health()).To(Equal(is(healthy)))
	b.clock.advance(1)
	b.Expect(b.health()).To(Equal(is(draining)))
	b.clock.advance(10 * time.Second)
	b.Expect(b.health()).To(BeEmpty(), "it drains from when it landed")
}

func TestLateCallsLandInTheOrderOfTheirTimes(t *testing.T) {
	b := newBench(t)
	late := func(by time.Duration) {
		b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{Late: true, LateBy: by}})
	}
	late(2 * time.Minute)
	b.Expect(code(b.deregister(target))).To(Equal(noAnswer))
	late(time.Minute)
	b.Expect(code(b.register(target))).To(Equal(noAnswer))
	b.clock.advance(time.Hour)
	b.Expect(b.Targets(b.arn)).To(BeEmpty(), "registered after one minute, gone after two")
}

func TestLateCallIsRefusedByWhatHasHappenedMeanwhile(t *testing.T) {
	b := newBench(t)
	b.Configure(func(s *elbsim.Settings) { s.Quota = 1 })
	b.Inject(elbsim.Rule{Times: 1, Fault: elbsim.Fault{Late: true}})
	b.Expect(code(b.register(target))).To(Equal(noAnswer))
	b.Expect(b.register("10.0.0.2:80")).To(Succeed())
	b.Land()
	b.Expect(b.Registered(b.arn)).To(Equal([]string{"10.0.0.2:80"}))
}

func TestLatencyOutlivesTheCaller(t *testing.T) {
	b := newBench(t)
	landed := make(chan elbsim.Mutation, 1)
	b.Observe(func(m elbsim.Mutation) { landed <- m })
	b.Inject(elbsim.Rule{Fault: elbsim.Fault{Latency: time.Hour}})

	impatient, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err := b.elb.RegisterTargets(impatient, &elbv2.RegisterTargetsInput{TargetGroupArn: &b.arn, Targets: descriptions(target)})
	b.Expect(err).To(MatchError(context.DeadlineExceeded))
	b.Eventually(landed, 10*time.Second).Should(Receive())
	b.Expect(b.Registered(b.arn)).To(Equal([]string{target}))
}

func TestLatencyIsWaited(t *testing.T) {
	b := newBench(t)
	b.Inject(elbsim.Rule{Fault: elbsim.Fault{Latency: 30 * time.Millisecond}})
	start := time.Now()
	b.Expect(b.register(target)).To(Succeed())
	b.Expect(time.Since(start)).To(BeNumerically(">=", 30*time.Millisecond))
}

func TestCloseCutsOffCallsUnderWay(t *testing.T) {
	b := newBench(t)
	arrived := make(chan struct{})
	b.Intercept(func(elbsim.Call) elbsim.Fault {
		close(arrived)
		return elbsim.Fault{Latency: time.Hour}
	})
	failed := make(chan error)
	go func() { failed <- b.register(target) }()
	<-arrived
	b.Close()
	b.Expect(code(<-failed)).To(Equal(noAnswer))
	_, err := http.Get(b.URL())
	b.Expect(err).To(HaveOccurred())
}
