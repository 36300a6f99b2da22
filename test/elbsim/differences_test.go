package elbsim_test

import (
	"testing"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
)

// differences is the whole list of where the simulator and kumo are known to
// part, with the source of the simulator's answer. Each row pins the last
// answer of both, so a change on either side shows.
var differences = []struct {
	name, why        string
	calls            []call
	simulator, other string
}{
	{
		"draining", "a deregistered target drains for the deregistration delay (API reference, DeregisterTargets); kumo drops it",
		[]call{create("a", 80), register("a", "10.0.0.1:80"), deregister("a", "10.0.0.1:80"), healthOf("a")},
		"10.0.0.1:80 draining", "",
	},
	{
		"ports are part of the target", "one address may be registered with several ports (API reference, RegisterTargets); kumo goes by address",
		[]call{create("a", 80), register("a", "10.0.0.1:80"), register("a", "10.0.0.1:81"), healthOf("a")},
		"10.0.0.1:80 healthy, 10.0.0.1:81 healthy", "10.0.0.1:80 healthy",
	},
	{
		"a repeated target in one call", "kumo lists a new target as often as the call names it",
		[]call{create("a", 80), register("a", "10.0.0.1:80", "10.0.0.1:80"), healthOf("a")},
		"10.0.0.1:80 healthy", "10.0.0.1:80 healthy, 10.0.0.1:80 healthy",
	},
	{
		"deregistering another port", "the port must be that of the registration (API reference, DeregisterTargets); kumo goes by address",
		[]call{create("a", 80), noDrain("a"), register("a", "10.0.0.1:80"), deregister("a", "10.0.0.1:81"), healthOf("a")},
		"10.0.0.1:80 healthy", "",
	},
	{
		"default port", "a target without a port has that of the group (API reference, RegisterTargets); kumo keeps port 0",
		[]call{create("a", 8080), registerWithoutPort("a", "10.0.0.1"), healthOf("a")},
		"10.0.0.1:8080 healthy", "10.0.0.1:0 healthy",
	},
	{
		"address in an instance group", "kubernetes-sigs/aws-load-balancer-controller#3668; kumo takes anything",
		[]call{create("a", 80, func(in *elbv2.CreateTargetGroupInput) { in.TargetType = types.TargetTypeEnumInstance }), register("a", "10.0.0.1:80")},
		"ValidationError", "registered",
	},
	{
		"instance in an ip group", "the same rule the other way round",
		[]call{create("a", 80), register("a", "i-01:80")},
		"ValidationError", "registered",
	},
	{
		"IPv6 address in an IPv4 group", "ansible-collections/community.aws#1441",
		[]call{create("a", 80), register("a", "[2001:db8::1]:80")},
		"ValidationError", "registered",
	},
	{
		"quota", "1000 targets per group (user guides, quotas); kumo has none",
		[]call{create("a", 80), registerMany("a", 1001)},
		"TooManyTargets", "registered",
	},
	{
		"malformed ARN", "jcjorel/ec2-spot-converter#7; kumo looks it up",
		[]call{healthOf("a")},
		"ValidationError", "InvalidParameterValue",
	},
	{
		"unknown name", "aws-samples/service-screener-v2#212; kumo answers with an empty list",
		[]call{describeByName("a")},
		"TargetGroupNotFound", "",
	},
	{
		"creating the same group again", "CreateTargetGroup is idempotent for equal settings (API reference)",
		[]call{create("a", 80), create("a", 80)},
		"created", "DuplicateTargetGroupName",
	},
	{
		"deleting a group that is gone", "ResourceInUse is the only error in the API reference of DeleteTargetGroup",
		[]call{create("a", 80), destroy("a"), destroy("a")},
		"deleted", "TargetGroupNotFound",
	},
	{
		"health check of a UDP group", "UDP is not supported for health checks, the default is TCP (API reference, CreateTargetGroup)",
		[]call{create("a", 53, func(in *elbv2.CreateTargetGroupInput) { in.Protocol = types.ProtocolEnumUdp }), healthCheckProtocol("a")},
		"TCP", "UDP",
	},
	{
		"health check port", "a port may be chosen (API reference, CreateTargetGroup); kumo reads it as a JSON number and fails",
		[]call{create("a", 80, func(in *elbv2.CreateTargetGroupInput) { port := "9000"; in.HealthCheckPort = &port })},
		"created", "InvalidParameterValue",
	},
	{
		"IP address type", "kumo does not report it",
		[]call{create("a", 80), ipAddressType("a")},
		"ipv4", "",
	},
	{
		"health check timeout", "6 s for HTTP (API reference, CreateTargetGroup)",
		[]call{create("a", 80), healthCheckTimeout("a")},
		"6", "5",
	},
	{
		"account limits", "kumo does not implement them",
		[]call{accountLimit("targets-per-target-group")},
		"1000", noAnswer,
	},
}

func TestKnownDifferencesFromKumo(t *testing.T) {
	for _, d := range differences {
		t.Run(d.name, func(t *testing.T) {
			simulator, other := bothSides(t)
			type answers struct{ Simulator, Other string }
			want := answers{d.simulator, d.other}
			got := answers{last(simulator, d.calls), last(other, d.calls)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", d.why, diff)
			}
		})
	}
}

func last(s *side, calls []call) string {
	answer := ""
	for _, c := range calls {
		answer = c.do(s)
	}
	return answer
}
