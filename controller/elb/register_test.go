package elb_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// roomy leaves the rate limit out of a test.
var roomy = elb.Limits{Reads: elb.Limit{PerSecond: 1, Burst: 1000}, Mutations: elb.Limit{PerSecond: 1, Burst: 1000}}

func register(t *testing.T, api *fakeAPI, targets []ownership.Target) ownership.Result {
	return elb.New(api, elb.Options{Limits: roomy}).Register(context.Background(), admit(t, targets))
}

func TestRegisterSendsChunksInOrder(t *testing.T) {
	g, api := NewWithT(t), newFake()
	targets := addresses(450)
	result := register(t, api, targets)

	g.Expect(result.Done).To(Equal(targets))
	g.Expect(result.Refused).To(BeEmpty())
	g.Expect(result.Unsure).To(BeEmpty())
	g.Expect(api.sizes()).To(Equal([]int{200, 200, 50}))
	g.Expect(api.calls[1].targets[0]).To(Equal(string(targets[200])))
	g.Expect(api.targets).To(HaveLen(450))
}

func TestRegisterSendsBareIDs(t *testing.T) {
	g, api := NewWithT(t), newFake()
	register(t, api, []ownership.Target{"[2001:db8::5]:8080", "i-0abc:30080"})
	g.Expect(api.targets).To(HaveKey("[2001:db8::5]:8080"))
	g.Expect(api.targets).To(HaveKey("i-0abc:30080"))
}

func TestRegisterIsolatesBadTargets(t *testing.T) {
	for name, c := range map[string]struct {
		targets int
		bad     []int
		calls   int // at most: one for each chunk and 2*log2(n), rounded up, for each bad target
	}{
		"first of ten":           {10, []int{0}, 9},
		"last of ten":            {10, []int{9}, 9},
		"one of two hundred":     {200, []int{117}, 17},
		"two at opposite ends":   {200, []int{0, 199}, 33},
		"one, alone":             {1, []int{0}, 1},
		"all":                    {4, []int{0, 1, 2, 3}, 7},
		"in the second of three": {450, []int{300}, 19},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			targets := addresses(c.targets)
			for _, i := range c.bad {
				api.bad[string(targets[i])] = true
			}
			result := register(t, api, targets)
			g.Expect(result.Done).To(HaveLen(c.targets - len(c.bad)))
			g.Expect(api.targets).To(HaveLen(c.targets - len(c.bad)))
			g.Expect(result.Refused).To(HaveLen(len(c.bad)))
			for _, i := range c.bad {
				g.Expect(result.Refused[targets[i]]).To(MatchError(ownership.ErrInvalidTarget))
				g.Expect(result.Refused[targets[i]]).To(MatchError("the load balancer refuses the target: InvalidTarget: not running"))
			}
			g.Expect(len(api.calls)).To(BeNumerically("<=", c.calls))
		})
	}
}

// Bad targets are singled out a few at a time, so that a group with many of
// them leaves the rate limit to others as well.
func TestRegisterLeavesManyBadTargetsForLater(t *testing.T) {
	g, api := NewWithT(t), newFake()
	targets := addresses(200)
	for _, bad := range targets[100:] {
		api.bad[string(bad)] = true
	}
	singledOut := 0
	for left := targets; len(left) > 0; {
		before := len(left)
		api.calls = nil
		result := register(t, api, left)
		g.Expect(len(api.calls)).To(BeNumerically("<=", 40))
		left = nil
		for target, err := range result.Refused {
			if errors.Is(err, ownership.ErrNotTried) {
				left = append(left, target)
				continue
			}
			g.Expect(err).To(MatchError(ownership.ErrInvalidTarget))
			singledOut++
		}
		g.Expect(len(left)).To(BeNumerically("<", before), "every batch makes progress")
	}
	g.Expect(api.targets).To(HaveLen(100))
	g.Expect(singledOut).To(Equal(100))
}

func TestRegisterFillsTheGroupInOrder(t *testing.T) {
	for _, room := range []int{0, 1, 30, 59, 60, 250} {
		t.Run(strconv.Itoa(room), func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			targets := addresses(60)
			if room > 60 {
				targets = addresses(300)
			}
			api.quota = room
			result := register(t, api, targets)

			g.Expect(result.Done).To(HaveLen(room))
			for i, target := range targets {
				if i < room {
					g.Expect(api.targets).To(HaveKey(string(target)))
				} else {
					g.Expect(result.Refused[target]).To(MatchError(ownership.ErrGroupFull))
				}
			}
			last := api.calls[len(api.calls)-1]
			if room < len(targets) {
				g.Expect(last.targets).To(Equal([]string{string(targets[room])}), "nothing is sent after a single target did not fit")
			}
			g.Expect(len(api.calls)).To(BeNumerically("<=", 2*9+1))
		})
	}
}

func TestRegisterFullGroupWithABadTarget(t *testing.T) {
	g, api := NewWithT(t), newFake()
	targets := addresses(10)
	api.quota, api.bad[string(targets[2])] = 5, true
	result := register(t, api, targets)
	g.Expect(result.Done).To(Equal([]ownership.Target{targets[0], targets[1], targets[3], targets[4], targets[5]}))
	g.Expect(result.Refused[targets[2]]).To(MatchError(ownership.ErrInvalidTarget))
	g.Expect(result.Refused[targets[6]]).To(MatchError(ownership.ErrGroupFull))
	g.Expect(result.Refused).To(HaveLen(5))
}

// What a failure says of its own chunk, and that the others are not sent.
func TestRegisterFailures(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		class  error
		unsure bool
	}{
		"throttled":          {answered(400, "Throttling"), ownership.ErrGroupThrottled, false},
		"throttled, new":     {answered(400, "ThrottlingException"), ownership.ErrGroupThrottled, false},
		"throttled, by code": {answered(503, "RequestLimitExceeded"), ownership.ErrGroupThrottled, false},
		"missing":            {&types.TargetGroupNotFoundException{}, ownership.ErrGroupMissing, false},
		"forbidden":          {answered(403, "AccessDenied"), ownership.ErrGroupForbidden, false},
		"forbidden, 400":     {answered(400, "AccessDeniedException"), ownership.ErrGroupForbidden, false},
		"unknown 403":        {answered(403, "Whatever"), ownership.ErrGroupForbidden, false},
		"unknown 400":        {answered(400, "InvalidAction"), ownership.ErrGroupUnavailable, false},
		"403 of a proxy":     {answered(403, "UnknownError"), ownership.ErrGroupForbidden, true},
		"400 of a proxy":     {answered(400, "UnknownError"), ownership.ErrGroupUnavailable, true},
		"refused connection": {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, ownership.ErrGroupUnavailable, false},
		"internal failure":   {answered(500, "InternalFailure"), ownership.ErrGroupUnavailable, true},
		"unavailable":        {answered(503, "ServiceUnavailable"), ownership.ErrGroupUnavailable, true},
		"request timeout":    {answered(400, "RequestTimeout"), ownership.ErrGroupUnavailable, true},
		"408":                {answered(408, "Whatever"), ownership.ErrGroupUnavailable, true},
		"reset":              {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ownership.ErrGroupUnavailable, true},
		"budget used up":     {context.DeadlineExceeded, ownership.ErrGroupUnavailable, true},
		"anything else":      {errors.New("?"), ownership.ErrGroupUnavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			api.before = always(c.err)
			targets := addresses(450)
			result := register(t, api, targets)

			g.Expect(api.sizes()).To(Equal([]int{200}))
			g.Expect(result.Done).To(BeEmpty())
			g.Expect(len(result.Refused) + len(result.Unsure)).To(Equal(450))
			first := result.Refused
			if c.unsure {
				g.Expect(result.Unsure).To(HaveLen(200))
				first = result.Unsure
			}
			g.Expect(first[targets[0]]).To(MatchError(c.class))
			g.Expect(first[targets[0]]).To(MatchError(c.err))
			g.Expect(result.Refused[targets[200]]).To(MatchError(c.class), "of a chunk that was not sent")
		})
	}
}

func TestRegisterStopsInTheMiddleOfASplit(t *testing.T) {
	g, api := NewWithT(t), newFake()
	targets := addresses(8)
	api.bad[string(targets[7])] = true
	api.before = func(_ context.Context, c call) error {
		if c.number == 3 { // the second half
			return answered(500, "InternalFailure")
		}
		return nil
	}
	result := register(t, api, targets)
	g.Expect(result.Done).To(Equal(targets[:4]))
	g.Expect(result.Unsure).To(HaveLen(4))
	g.Expect(result.Refused).To(BeEmpty())
}

func TestRegisterNothing(t *testing.T) {
	g, api := NewWithT(t), newFake()
	g.Expect(register(t, api, nil).Done).To(BeEmpty())
	g.Expect(api.calls).To(BeEmpty())
}

func TestGroupsElsewhereAreNotTouched(t *testing.T) {
	for name, options := range map[string]elb.Options{
		"region":  {Region: "us-east-1"},
		"account": {Account: "210987654321"},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			targets := addresses(2)
			in, out := permits(t, targets[:1], targets[1:])
			client := elb.New(api, options)
			g.Expect(client.Register(context.Background(), in).Refused[targets[0]]).To(MatchError(elb.ErrGroupElsewhere))
			g.Expect(client.Deregister(context.Background(), out).Refused[targets[1]]).To(MatchError(elb.ErrGroupElsewhere))
			g.Expect(api.calls).To(BeEmpty())
		})
	}
}
