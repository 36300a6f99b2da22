package elb_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/memory"
)

const arn = ownership.GroupARN("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/0123456789abcdef")

// fakeAPI is one target group in memory, and more that can be described. It
// does not retry.
type fakeAPI struct {
	mu      sync.Mutex
	group   types.TargetGroup
	more    []types.TargetGroup
	targets map[string]types.TargetHealthStateEnum // by ID:port
	tags    map[string]string                      // of the group
	zone    string                                 // that is listed
	quota   int
	bad     map[string]bool // by ID:port
	calls   []call

	// before, if set, runs on each call, which it can delay or fail.
	before func(context.Context, call) error
	// answer, if set, replaces the answer of DescribeTargetGroups.
	answer *elbv2.DescribeTargetGroupsOutput
}

// call is a call that arrived.
type call struct {
	operation string
	targets   []string
	zones     []string // of the targets
	groups    []string // described, by name or ARN
	number    int      // from 1
}

func newFake() *fakeAPI {
	return &fakeAPI{
		group: types.TargetGroup{
			TargetGroupArn: aws.String(string(arn)), TargetGroupName: aws.String("web"), TargetType: types.TargetTypeEnumIp,
			Protocol: types.ProtocolEnumTcp, IpAddressType: types.TargetGroupIpAddressTypeEnumIpv4, VpcId: aws.String("vpc-1"),
		},
		targets: map[string]types.TargetHealthStateEnum{},
		quota:   1000,
		bad:     map[string]bool{},
	}
}

func (f *fakeAPI) arrive(ctx context.Context, operation string, targets []types.TargetDescription, groups ...string) error {
	f.mu.Lock()
	c := call{operation: operation, number: len(f.calls) + 1, targets: keys(targets), groups: groups}
	for _, t := range targets {
		c.zones = append(c.zones, aws.ToString(t.AvailabilityZone))
	}
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.before == nil {
		return nil
	}
	return f.before(ctx, c)
}

func (f *fakeAPI) DescribeTargetGroups(ctx context.Context, in *elbv2.DescribeTargetGroupsInput, _ ...func(*elbv2.Options)) (*elbv2.DescribeTargetGroupsOutput, error) {
	asked := slices.Concat(in.Names, in.TargetGroupArns)
	if err := f.arrive(ctx, "DescribeTargetGroups", nil, asked...); err != nil {
		return nil, err
	}
	if f.answer != nil {
		return f.answer, nil
	}
	if len(in.Names) > 0 && len(in.TargetGroupArns) > 0 || len(asked) > 20 {
		return nil, answered(400, "ValidationError")
	}
	out := &elbv2.DescribeTargetGroupsOutput{}
	for _, g := range append([]types.TargetGroup{f.group}, f.more...) {
		if slices.Contains(in.Names, *g.TargetGroupName) || slices.Contains(in.TargetGroupArns, *g.TargetGroupArn) {
			out.TargetGroups = append(out.TargetGroups, g)
		}
	}
	if len(out.TargetGroups) < len(asked) {
		return nil, &types.TargetGroupNotFoundException{}
	}
	return out, nil
}

func (f *fakeAPI) DescribeTargetHealth(ctx context.Context, _ *elbv2.DescribeTargetHealthInput, _ ...func(*elbv2.Options)) (*elbv2.DescribeTargetHealthOutput, error) {
	if err := f.arrive(ctx, "DescribeTargetHealth", nil); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &elbv2.DescribeTargetHealthOutput{}
	for key, state := range f.targets {
		d := types.TargetHealthDescription{Target: description(key), TargetHealth: &types.TargetHealth{State: state}}
		if f.zone != "" {
			d.Target.AvailabilityZone = aws.String(f.zone)
		}
		out.TargetHealthDescriptions = append(out.TargetHealthDescriptions, d)
	}
	return out, nil
}

func (f *fakeAPI) DescribeTags(ctx context.Context, in *elbv2.DescribeTagsInput, _ ...func(*elbv2.Options)) (*elbv2.DescribeTagsOutput, error) {
	if err := f.arrive(ctx, "DescribeTags", nil, in.ResourceArns...); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := &elbv2.DescribeTagsOutput{}
	for _, asked := range in.ResourceArns {
		if asked != aws.ToString(f.group.TargetGroupArn) {
			return nil, &types.TargetGroupNotFoundException{}
		}
		d := types.TagDescription{ResourceArn: aws.String(asked)}
		for key, value := range f.tags {
			d.Tags = append(d.Tags, types.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
		out.TagDescriptions = append(out.TagDescriptions, d)
	}
	return out, nil
}

func (f *fakeAPI) RegisterTargets(ctx context.Context, in *elbv2.RegisterTargetsInput, _ ...func(*elbv2.Options)) (*elbv2.RegisterTargetsOutput, error) {
	if err := f.arrive(ctx, "RegisterTargets", in.Targets); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := 0
	for _, key := range keys(in.Targets) {
		if f.bad[key] {
			return nil, &types.InvalidTargetException{Message: aws.String("not running")}
		}
		if _, present := f.targets[key]; !present {
			fresh++
		}
	}
	if len(f.targets)+fresh > f.quota {
		return nil, &types.TooManyTargetsException{}
	}
	for _, key := range keys(in.Targets) {
		f.targets[key] = types.TargetHealthStateEnumInitial
	}
	return &elbv2.RegisterTargetsOutput{}, nil
}

func (f *fakeAPI) DeregisterTargets(ctx context.Context, in *elbv2.DeregisterTargetsInput, _ ...func(*elbv2.Options)) (*elbv2.DeregisterTargetsOutput, error) {
	if err := f.arrive(ctx, "DeregisterTargets", in.Targets); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keys(in.Targets) {
		delete(f.targets, key)
	}
	return &elbv2.DeregisterTargetsOutput{}, nil
}

func keys(targets []types.TargetDescription) []string {
	out := make([]string, len(targets))
	for i, t := range targets {
		out[i] = net.JoinHostPort(aws.ToString(t.Id), strconv.Itoa(int(aws.ToInt32(t.Port))))
	}
	return out
}

func description(key string) *types.TargetDescription {
	id, port, err := net.SplitHostPort(key)
	if err != nil {
		return &types.TargetDescription{Id: aws.String(key)} // an ARN of something
	}
	n, _ := strconv.Atoi(port)
	return &types.TargetDescription{Id: aws.String(id), Port: aws.Int32(int32(n))}
}

// sizes are the numbers of targets of the calls so far.
func (f *fakeAPI) sizes() []int {
	var n []int
	for _, c := range f.calls {
		n = append(n, len(c.targets))
	}
	return n
}

func always(err error) func(context.Context, call) error {
	return func(context.Context, call) error { return err }
}

// answered is an error as the SDK returns it for an answer of the service.
func answered(status int, code string) error {
	return &smithy.OperationError{ServiceID: "Elastic Load Balancing v2", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "as requested"},
	}}
}

// addresses returns n targets, in the order of their keys.
func addresses(n int) []ownership.Target {
	out := make([]ownership.Target, n)
	for i := range out {
		out[i] = ownership.Target("10.0." + strconv.Itoa(i/250+100) + "." + strconv.Itoa(i%250+1) + ":8080")
	}
	slices.Sort(out)
	return out
}

// permits returns the permissions to register the first targets and to
// deregister the others, in a group that nobody else uses.
func permits(t *testing.T, in, out []ownership.Target) (ownership.Admission, ownership.Removal) {
	t.Helper()
	g, ctx, n := NewWithT(t), context.Background(), 0
	ledger := ownership.NewLedger(memory.New(),
		ownership.Identity{Group: arn, Owner: ownership.Owner{Cluster: "a", Namespace: "default", Name: "web"}, BindingUID: "uid"},
		ownership.Env{Now: time.Now, NewID: func() string { n++; return strconv.Itoa(n) }})
	g.Expect(ledger.Look(ctx)).To(Succeed())
	g.Expect(ledger.Flag(ctx, append(slices.Clone(in), out...), nil)).To(Succeed())
	g.Expect(ledger.Flag(ctx, nil, out)).To(Succeed())
	g.Expect(ledger.Look(ctx)).To(Succeed())
	return ledger.Current().Admit(in), ledger.Current().Remove(out)
}

func admit(t *testing.T, targets []ownership.Target) ownership.Admission {
	a, _ := permits(t, targets, nil)
	return a
}
