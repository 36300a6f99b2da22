package elb_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

func TestExpiredPermissionSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), newFake()
		in, out := addresses(3)[:1], addresses(3)[1:]
		admission, removal := permits(t, in, out)
		client := elb.New(api, elb.Options{})
		time.Sleep(ownership.CallBudget + time.Nanosecond)

		result := client.Register(context.Background(), admission)
		g.Expect(result.Refused).To(HaveLen(1))
		g.Expect(result.Refused[in[0]]).To(MatchError(ownership.ErrLookExpired))
		g.Expect(result.Refused[in[0]]).To(MatchError("the permission has expired"), "not the rate limit's fault")
		result = client.Deregister(context.Background(), removal)
		g.Expect(result.Refused).To(HaveLen(2))
		g.Expect(result.Refused[out[0]]).To(MatchError(ownership.ErrLookExpired))
		g.Expect(api.calls).To(BeEmpty())
	})
}

func TestPermissionHoldsUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), newFake()
		admission := admit(t, addresses(1))
		time.Sleep(ownership.CallBudget)
		g.Expect(elb.New(api, elb.Options{}).Register(context.Background(), admission).Done).To(HaveLen(1))
	})
}

func TestPermissionExpiresBetweenChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), newFake()
		api.before = func(context.Context, call) error { time.Sleep(11 * time.Second); return nil }
		targets := addresses(600)
		result := elb.New(api, elb.Options{}).Register(context.Background(), admit(t, targets))
		g.Expect(result.Done).To(Equal(targets[:400]), "sent after 0 s and 11 s")
		g.Expect(result.Refused).To(HaveLen(200))
		g.Expect(result.Refused[targets[400]]).To(MatchError(ownership.ErrLookExpired))
	})
}

func TestWaitingForTheRateLimitUsesUpThePermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), newFake(), time.Now()
		limits := elb.Limits{Mutations: elb.Limit{PerSecond: 0.1, Burst: 1}}
		targets := addresses(800)
		client := elb.New(api, elb.Options{Limits: limits})
		result := client.Register(context.Background(), admit(t, targets))
		g.Expect(result.Done).To(Equal(targets[:600]), "sent after 0 s, 10 s and 20 s")
		g.Expect(result.Refused[targets[600]]).To(MatchError(ownership.ErrLookExpired))
		g.Expect(time.Since(began)).To(Equal(20*time.Second), "what will be too late is not waited for")

		g.Expect(client.Register(context.Background(), admit(t, targets[600:])).Done).To(HaveLen(200))
		g.Expect(time.Since(began)).To(Equal(30*time.Second), "what was not sent has used up no token")
	})
}

// A process that is paused while it waits finds its permission expired.
func TestPausedWhileWaiting(t *testing.T) {
	g, api, readings := NewWithT(t), newFake(), 0
	targets := addresses(1)
	client := elb.New(api, elb.Options{Now: func() time.Time {
		readings++
		return time.Now().Add(time.Duration(readings-1) * 2 * ownership.CallBudget)
	}})
	result := client.Register(context.Background(), admit(t, targets))
	g.Expect(readings).To(Equal(2))
	g.Expect(result.Refused[targets[0]]).To(MatchError(ownership.ErrLookExpired))
	g.Expect(api.calls).To(BeEmpty())
}

func TestReadsAndMutationsAreLimitedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api := NewWithT(t), newFake()
		client := elb.New(api, elb.Options{Limits: elb.Limits{
			Reads: elb.Limit{PerSecond: 0.01, Burst: 1}, Mutations: elb.Limit{PerSecond: 1, Burst: 1}}})
		_, err := client.Health(context.Background(), arn)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = client.Health(context.Background(), arn)
		g.Expect(err).To(MatchError(ownership.ErrGroupThrottled))
		g.Expect(client.Register(context.Background(), admit(t, addresses(1))).Done).To(HaveLen(1))
		g.Expect(api.calls).To(HaveLen(2))
	})
}

func TestBindingsShareTheRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), newFake(), time.Now()
		client := elb.New(api, elb.Options{})
		done := make(chan ownership.Result)
		const bindings = 20
		for range bindings {
			admission := admit(t, addresses(1))
			go func() { done <- client.Register(context.Background(), admission) }()
		}
		for range bindings {
			g.Expect((<-done).Done).To(HaveLen(1))
		}
		g.Expect(time.Since(began)).To(Equal(5*time.Second), "10 at once, then 2 per second")
	})
}

func TestCallHasABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), newFake(), time.Now()
		api.before = func(ctx context.Context, _ call) error { <-ctx.Done(); return ctx.Err() }
		result := elb.New(api, elb.Options{}).Register(context.Background(), admit(t, addresses(1)))
		g.Expect(result.Unsure).To(HaveLen(1))
		g.Expect(time.Since(began)).To(Equal(ownership.CallBudget))
	})
}

func TestCancelledBeforeTheCall(t *testing.T) {
	g, api := NewWithT(t), newFake()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	targets := addresses(1)
	result := elb.New(api, elb.Options{}).Register(ctx, admit(t, targets))
	g.Expect(result.Refused[targets[0]]).To(MatchError(context.Canceled))
	g.Expect(api.calls).To(BeEmpty())
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, api, began := NewWithT(t), newFake(), time.Now()
		targets := addresses(1)
		client := elb.New(api, elb.Options{Limits: elb.Limits{Mutations: elb.Limit{PerSecond: 0.1, Burst: 1}}})
		client.Register(context.Background(), admit(t, targets))

		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		result := client.Register(ctx, admit(t, targets))
		g.Expect(result.Refused[targets[0]]).To(MatchError(context.DeadlineExceeded))
		g.Expect(time.Since(began)).To(Equal(5 * time.Second))

		client.Register(context.Background(), admit(t, targets))
		g.Expect(time.Since(began)).To(Equal(10*time.Second), "the token that was not used is there for the next")
		g.Expect(api.calls).To(HaveLen(2))
	})
}
