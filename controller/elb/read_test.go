package elb_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

func TestGroup(t *testing.T) {
	want := elb.Group{ARN: arn, Name: "web", TargetType: "ip", Protocol: "TCP", IPAddressType: "ipv4", VPCID: "vpc-1"}
	for name, ref := range map[string]elb.GroupRef{"by ARN": {ARN: string(arn)}, "by name": {Name: "web"}} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			got, err := elb.New(api, elb.Options{Region: "eu-west-1", Account: "123456789012"}).Group(context.Background(), ref)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(want))
			g.Expect(api.calls).To(HaveLen(1))
		})
	}
}

func TestBadReferencesNeverReachAWS(t *testing.T) {
	for name, c := range map[string]struct {
		ref  elb.GroupRef
		want error
	}{
		"nothing":               {elb.GroupRef{}, elb.ErrGroupInvalid},
		"both":                  {elb.GroupRef{ARN: string(arn), Name: "web"}, elb.ErrGroupInvalid},
		"no ARN":                {elb.GroupRef{ARN: "web"}, elb.ErrGroupInvalid},
		"load balancer's ARN":   {elb.GroupRef{ARN: "arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/0123456789abcdef"}, elb.ErrGroupInvalid},
		"ARN with a space":      {elb.GroupRef{ARN: string(arn) + " "}, elb.ErrGroupInvalid},
		"name with a dot":       {elb.GroupRef{Name: "web.example"}, elb.ErrGroupInvalid},
		"name with a hyphen":    {elb.GroupRef{Name: "web-"}, elb.ErrGroupInvalid},
		"name of 33 letters":    {elb.GroupRef{Name: "abcdefghijklmnopqrstuvwxyzabcdefg"}, elb.ErrGroupInvalid},
		"ARN of another region": {elb.GroupRef{ARN: "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/0123456789abcdef"}, elb.ErrGroupElsewhere},
		"ARN of another owner":  {elb.GroupRef{ARN: "arn:aws:elasticloadbalancing:eu-west-1:210987654321:targetgroup/web/0123456789abcdef"}, elb.ErrGroupElsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			client := elb.New(api, elb.Options{Region: "eu-west-1", Account: "123456789012"})
			_, err := client.Group(context.Background(), c.ref)
			g.Expect(err).To(MatchError(c.want))
			if c.ref.Name == "" {
				_, err = client.Health(context.Background(), ownership.GroupARN(c.ref.ARN))
				g.Expect(err).To(MatchError(c.want))
			}
			g.Expect(api.calls).To(BeEmpty())
		})
	}
}

func TestReadFailures(t *testing.T) {
	for name, c := range map[string]struct{ err, class error }{
		"missing":            {&types.TargetGroupNotFoundException{}, ownership.ErrGroupMissing},
		"forbidden":          {answered(403, "AccessDenied"), ownership.ErrGroupForbidden},
		"throttled":          {answered(400, "Throttling"), ownership.ErrGroupThrottled},
		"invalid":            {answered(400, "ValidationError"), elb.ErrGroupInvalid},
		"internal failure":   {answered(500, "InternalFailure"), ownership.ErrGroupUnavailable},
		"health unavailable": {&types.HealthUnavailableException{}, ownership.ErrGroupUnavailable},
		"reset":              {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ownership.ErrGroupUnavailable},
		"anything else":      {errors.New("?"), ownership.ErrGroupUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			api.before = always(c.err)
			client := elb.New(api, elb.Options{})
			_, err := client.Group(context.Background(), elb.GroupRef{ARN: string(arn)})
			g.Expect(err).To(MatchError(c.class))
			states, err := client.Health(context.Background(), arn)
			g.Expect(err).To(MatchError(c.class))
			g.Expect(states).To(BeNil())
		})
	}
}

// An answer that names no group is not the answer that there is none.
func TestGroupInAnUnusableAnswer(t *testing.T) {
	for name, groups := range map[string][]types.TargetGroup{
		"empty":       nil,
		"two groups":  {newFake().group, newFake().group},
		"without ARN": {{TargetGroupName: aws.String("web")}},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFake()
			api.answer = &elbv2.DescribeTargetGroupsOutput{TargetGroups: groups}
			_, err := elb.New(api, elb.Options{}).Group(context.Background(), elb.GroupRef{Name: "web"})
			g.Expect(err).To(MatchError(ownership.ErrGroupUnavailable))
			g.Expect(err).NotTo(MatchError(ownership.ErrGroupMissing))
		})
	}
}

func TestHealth(t *testing.T) {
	g, api := NewWithT(t), newFake()
	client := elb.New(api, elb.Options{})
	states, err := client.Health(context.Background(), arn)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(states).To(BeEmpty())
	g.Expect(states).NotTo(BeNil())

	api.targets = map[string]types.TargetHealthStateEnum{
		"10.0.0.1:80":        "initial",
		"10.0.0.2:80":        "healthy",
		"10.0.0.3:80":        "unhealthy",
		"10.0.0.4:80":        "draining",
		"10.0.0.5:80":        "unused",
		"10.0.0.6:80":        "unavailable",
		"10.0.0.7:80":        "unhealthy.draining",
		"10.0.0.8:80":        "something.new",
		"[2001:db8::5]:8080": "healthy",
		"i-0abc:30080":       "healthy",
	}
	states, err = client.Health(context.Background(), arn)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(states).To(Equal(map[ownership.Target]elb.State{
		"10.0.0.1:80":        elb.Initial,
		"10.0.0.2:80":        elb.Healthy,
		"10.0.0.3:80":        elb.Unhealthy,
		"10.0.0.4:80":        elb.Draining,
		"10.0.0.5:80":        elb.Unused,
		"10.0.0.6:80":        elb.Unavailable,
		"10.0.0.7:80":        elb.Unhealthy,
		"10.0.0.8:80":        elb.Unavailable,
		"[2001:db8::5]:8080": elb.Healthy,
		"i-0abc:30080":       elb.Healthy,
	}))
}

func TestHealthOfOtherKindsOfTargets(t *testing.T) {
	for _, id := range []string{
		"arn:aws:lambda:eu-west-1:123456789012:function:hello",
		"arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/app/web/0123456789abcdef",
	} {
		g, api := NewWithT(t), newFake()
		api.targets = map[string]types.TargetHealthStateEnum{id: "healthy"}
		_, err := elb.New(api, elb.Options{}).Health(context.Background(), arn)
		var wrong *elb.WrongTargetTypeError
		g.Expect(errors.As(err, &wrong)).To(BeTrue())
		g.Expect(wrong.Target).To(Equal(id))
	}
}
