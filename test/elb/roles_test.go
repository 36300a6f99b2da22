package elb_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/elbsim"
)

const (
	ofOther = "arn:aws:iam::210987654321:role/targets"
	ofThird = "arn:aws:iam::321098765432:role/targets"
)

// abroad is a group of each of two other accounts, and the way to them.
type abroad struct {
	*WithT
	sim          *elbsim.Simulator
	other, third elb.GroupRef
	now          func() time.Time
}

func newAbroad(t *testing.T) abroad {
	a := abroad{WithT: NewWithT(t), sim: elbsim.New(elbsim.Options{}), now: time.Now}
	_, err := a.sim.Start()
	a.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(a.sim.Close)
	for account, ref := range map[string]*elb.GroupRef{"210987654321": &a.other, "321098765432": &a.third} {
		g, err := a.sim.CreateGroupIn(account, elbsim.Group{Name: "web", Protocol: "TCP", Port: 80, TargetType: elbsim.TargetTypeIP, VPCID: "vpc-1"})
		a.Expect(err).NotTo(HaveOccurred())
		ref.ARN = g.ARN
	}
	a.sim.SetRole(elbsim.Role{ARN: ofOther, ExternalID: "secret"})
	a.sim.SetRole(elbsim.Role{ARN: ofThird})
	return a
}

func (a abroad) accounts(limits elb.Limits, options ...func(*sts.Options)) *elb.Accounts {
	home := elb.New(a.sim.Client("home"), elb.Options{Account: "123456789012", Limits: limits, Now: a.now})
	return elb.NewAccounts(home, a.sim.STS("home", options...), func(c aws.CredentialsProvider) elb.API {
		return a.sim.Client("", func(o *elbv2.Options) { o.Credentials = c })
	}, "target-ownership-"+strings.Repeat("e", 100))
}

// admit is the permission to register targets in the third account's group.
func (a abroad) admit(targets []ownership.Target) ownership.Admission {
	admission, _ := fixture{WithT: a.WithT, group: ownership.GroupARN(a.third.ARN)}.permits(targets, nil)
	return admission
}

func (a abroad) assumed() int {
	n := 0
	for _, e := range a.sim.Journal() {
		if e.Action == "AssumeRole" {
			n++
		}
	}
	return n
}

// Two roles work side by side, each in its own account, with one session each,
// whoever asks for them.
func TestTwoRoles(t *testing.T) {
	a := newAbroad(t)
	accounts := a.accounts(elb.Limits{})
	var both sync.WaitGroup
	for range 5 {
		for role, ref := range map[elb.Role]elb.GroupRef{{ARN: ofOther, ExternalID: "secret"}: a.other, {ARN: ofThird}: a.third} {
			both.Go(func() {
				g, err := accounts.Of(role).Group(t.Context(), ref)
				if err != nil || string(g.ARN) != ref.ARN {
					t.Error(g, err)
				}
			})
		}
	}
	both.Wait()
	a.Expect(a.assumed()).To(Equal(2))
	_, err := accounts.Of(elb.Role{ARN: ofThird}).Group(t.Context(), a.other)
	a.Expect(err).To(MatchError(elb.ErrGroupElsewhere))
	_, err = accounts.Of(elb.Role{}).Group(t.Context(), a.other)
	a.Expect(err).To(MatchError(elb.ErrGroupElsewhere))
	byName, err := accounts.Of(elb.Role{ARN: ofThird}).Group(t.Context(), elb.GroupRef{Name: "web"})
	a.Expect(err).NotTo(HaveOccurred())
	a.Expect(string(byName.ARN)).To(Equal(a.third.ARN))
}

func TestRolesThatAreRefused(t *testing.T) {
	for name, role := range map[string]elb.Role{
		"no such role":      {ARN: "arn:aws:iam::210987654321:role/nobody"},
		"wrong external ID": {ARN: ofOther, ExternalID: "guessed"},
		"no external ID":    {ARN: ofOther},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAbroad(t)
			_, err := a.accounts(elb.Limits{}).Of(role).Group(t.Context(), a.other)
			a.Expect(err).To(MatchError(ownership.ErrGroupForbidden))
			_, isRole := errors.AsType[*elb.RoleError](err)
			a.Expect(isRole).To(BeTrue())
			a.Expect(err).To(MatchError(And(ContainSubstring("role "+role.ARN+" cannot be assumed: AccessDenied: "), ContainSubstring("sts:AssumeRole"),
				Not(ContainSubstring("guessed")), Not(ContainSubstring("request")))))
		})
	}
}

// A call that could not be signed was not sent: none of its targets is in
// doubt.
func TestNothingIsSentWithoutTheRole(t *testing.T) {
	for name, fault := range map[string]elbsim.Fault{
		"denied": {Refuse: elbsim.AccessDenied()}, "cut off": {DropReply: true}, "throttled": {Refuse: elbsim.Throttled()}, "failed": {Refuse: elbsim.InternalFailure()},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAbroad(t)
			a.sim.Inject(elbsim.Rule{Action: "AssumeRole", Fault: fault})
			client := a.accounts(elb.Limits{}).Of(elb.Role{ARN: ofThird})
			targets := pods(0, 3)
			result := client.Register(t.Context(), a.admit(targets))
			a.Expect(result.Refused).To(HaveLen(3))
			a.Expect(result.Unsure).To(BeEmpty())
		})
	}
}

// Sessions are renewed before they end, and one that ended without notice is.
func TestSessionsAreRenewed(t *testing.T) {
	a := newAbroad(t)
	// It is about to end from its first moment: within the time that a call
	// may take.
	a.sim.SetRole(elbsim.Role{ARN: ofThird, Lasts: 50 * time.Second})
	client := a.accounts(elb.Limits{}).Of(elb.Role{ARN: ofThird})
	for range 3 {
		_, err := client.Group(t.Context(), a.third)
		a.Expect(err).NotTo(HaveOccurred())
	}
	a.Expect(a.assumed()).To(Equal(3))

	a.sim.SetRole(elbsim.Role{ARN: ofThird})
	for range 3 {
		_, err := client.Group(t.Context(), a.third)
		a.Expect(err).NotTo(HaveOccurred())
	}
	a.Expect(a.assumed()).To(Equal(4), "an hour")

	a.sim.EndSessions()
	_, err := client.Group(t.Context(), a.third)
	a.Expect(err).To(MatchError(ContainSubstring("ExpiredToken")))
	_, err = client.Group(t.Context(), a.third)
	a.Expect(err).NotTo(HaveOccurred())
	a.Expect(a.assumed()).To(Equal(5))
}

// AWS STS that does not answer costs one caller his time, and others none.
func TestARoleThatHangs(t *testing.T) {
	a := newAbroad(t)
	now := time.Now()
	var mu sync.Mutex
	a.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	hangs, let := make(chan struct{}, 10), make(chan struct{})
	a.sim.Intercept(func(c elbsim.Call) elbsim.Fault {
		if c.Action == "AssumeRole" {
			hangs <- struct{}{}
			<-let
			return elbsim.Fault{DropReply: true}
		}
		return elbsim.Fault{}
	})
	client := a.accounts(elb.Limits{}).Of(elb.Role{ARN: ofThird})
	try := func() error { _, err := client.Health(t.Context(), ownership.GroupARN(a.third.ARN)); return err }
	first := make(chan error)
	go func() { first <- try() }()
	<-hangs
	let <- struct{}{}
	a.Expect(<-first).To(MatchError(ownership.ErrGroupUnavailable))
	a.Expect(try()).To(MatchError(ContainSubstring("cannot be assumed")), "at once, without a call")
	a.Expect(a.assumed()).To(Equal(1))

	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	go func() { first <- try() }()
	<-hangs
	for range 5 {
		a.Expect(try()).To(MatchError(ContainSubstring("cannot be assumed")), "at once, while somebody tries")
	}
	a.sim.Intercept(nil)
	close(let)
	a.Expect(<-first).To(HaveOccurred())
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	a.Expect(try()).To(Succeed())
}

// AWS counts calls by account: the roles of one share its limits, and the
// controller's own account is none of them.
func TestRolesOfAnAccountShareItsLimits(t *testing.T) {
	a := newAbroad(t)
	a.sim.SetRole(elbsim.Role{ARN: ofOther + "2"})
	accounts := a.accounts(elb.Limits{Reads: elb.Limit{PerSecond: 0.001, Burst: 1}})
	one, two, third := accounts.Of(elb.Role{ARN: ofOther, ExternalID: "secret"}), accounts.Of(elb.Role{ARN: ofOther + "2"}), accounts.Of(elb.Role{ARN: ofThird})
	_, err := one.Health(t.Context(), ownership.GroupARN(a.other.ARN))
	a.Expect(err).NotTo(HaveOccurred())
	_, err = two.Health(t.Context(), ownership.GroupARN(a.other.ARN))
	a.Expect(err).To(MatchError(ownership.ErrGroupThrottled))
	_, err = third.Health(t.Context(), ownership.GroupARN(a.third.ARN))
	a.Expect(err).NotTo(HaveOccurred())
}

// What the network says of AWS STS is passed on as one line that stays the
// same.
func TestUnreachableSTS(t *testing.T) {
	a := newAbroad(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	a.Expect(err).NotTo(HaveOccurred())
	closed := "http://" + listener.Addr().String()
	a.Expect(listener.Close()).To(Succeed())
	client := a.accounts(elb.Limits{}, func(o *sts.Options) { o.BaseEndpoint = &closed }).Of(elb.Role{ARN: ofThird})
	_, err = client.Group(context.Background(), a.third)
	a.Expect(err).To(MatchError(And(ContainSubstring("connection refused"), ContainSubstring("check the network path to AWS STS"))))
}
