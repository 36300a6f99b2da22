package elbsim_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

func TestTargetsAreAddressAndPort(t *testing.T) {
	b := newBench(t)
	b.Expect(b.register("10.0.0.1:80", "10.0.0.1:81")).To(Succeed())
	b.setDelay("0")
	b.Expect(b.deregister("10.0.0.1:80")).To(Succeed())
	b.Expect(b.health()).To(Equal(map[string]string{"10.0.0.1:81": "healthy"}))
}

func TestTargetWithoutPortHasThePortOfTheGroup(t *testing.T) {
	b := newBench(t)
	noPort := []types.TargetDescription{{Id: aws.String("10.0.0.1")}}
	b.Expect(b.register("10.0.0.1:8080")).To(Succeed())
	_, err := b.elb.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: &b.arn, Targets: noPort})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.Registered(b.arn)).To(Equal([]string{"10.0.0.1:80", "10.0.0.1:8080"}))
	_, err = b.elb.DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{TargetGroupArn: &b.arn, Targets: noPort})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.Registered(b.arn)).To(Equal([]string{"10.0.0.1:8080"}))
}

func TestIPv6AddressesAreOneTargetHoweverWritten(t *testing.T) {
	b := newBench(t, func(g *elbsim.Group) { g.IPAddressType = elbsim.IPv6 })
	b.Expect(b.register("[2001:db8::5]:80", "[2001:DB8:0:0::5]:80")).To(Succeed())
	b.Expect(b.health()).To(Equal(map[string]string{"[2001:db8::5]:80": "healthy"}))
}

func TestRegisterRefusesTheWholeCall(t *testing.T) {
	ipv6 := func(g *elbsim.Group) { g.IPAddressType = elbsim.IPv6 }
	ip := func(*elbsim.Group) {}
	for name, tc := range map[string]struct {
		group         func(*elbsim.Group)
		good, bad     string
		code, message string
	}{
		"instance in an ip group":    {ip, "10.0.0.1:80", "i-0abc:80", "ValidationError", "The IP address 'i-0abc' is not a valid IPv4 address"},
		"IPv6 in an IPv4 group":      {ip, "10.0.0.1:80", "[2001:db8::5]:80", "ValidationError", "The IP address '2001:db8::5' is not a valid IPv4 address"},
		"IPv4 in an IPv6 group":      {ipv6, "[2001:db8::5]:80", "10.0.0.1:80", "ValidationError", "The IP address '10.0.0.1' is not a valid IPv6 address"},
		"address in instance group":  {instances, "i-0abc:80", "10.0.0.1:80", "ValidationError", "Instance ID '10.0.0.1' is not valid"},
		"host name as instance":      {instances, "i-0abc:80", "ip-10-0-0-1:80", "ValidationError", "Instance ID 'ip-10-0-0-1' is not valid"},
		"instance that is shut down": {instances, "i-0abc:80", "i-0dead:80", "InvalidTarget", "The following targets are not in a running state and cannot be registered: 'i-0dead'"},
		"instance that is unknown":   {instances, "i-0abc:80", "i-0f00:80", "InvalidTarget", "The following instances do not exist: 'i-0f00'"},
		"impossible port":            {ip, "10.0.0.1:80", "10.0.0.2:0", "ValidationError", "Value '0' at 'targets.2.member.port'"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.group)
			b.SetInstance("i-0dead", elbsim.InstanceNotRunning)
			b.SetInstance("i-0f00", elbsim.InstanceUnknown)
			err := b.register(tc.good, tc.bad)
			b.Expect(code(err)).To(Equal(tc.code))
			b.Expect(err).To(MatchError(ContainSubstring(tc.message)))
			b.Expect(b.Registered(b.arn)).To(BeEmpty())
			b.Expect(b.register(tc.good)).To(Succeed())
		})
	}
}

func TestInvalidTargetNamesEveryBadInstance(t *testing.T) {
	b := newBench(t, instances)
	b.SetInstance("i-01", elbsim.InstanceNotRunning)
	b.SetInstance("i-03", elbsim.InstanceNotRunning)
	err := b.register("i-01:80", "i-02:80", "i-03:80")
	b.Expect(err).To(MatchError(ContainSubstring("'i-01', 'i-03'")))
	b.SetInstance("i-01", elbsim.InstanceRunning)
	b.SetInstance("i-03", elbsim.InstanceRunning)
	b.Expect(b.register("i-01:80", "i-02:80", "i-03:80")).To(Succeed())
}

func TestNoTargets(t *testing.T) {
	b := newBench(t)
	// The SDK refuses nil, but sends an empty list.
	_, err := b.elb.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: &b.arn, Targets: []types.TargetDescription{}})
	b.Expect(code(err)).To(Equal("ValidationError"))
	_, err = b.elb.DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{TargetGroupArn: &b.arn, Targets: []types.TargetDescription{}})
	b.Expect(code(err)).To(Equal("ValidationError"))
}

func TestZoneRule(t *testing.T) {
	const (
		network     = "TCP"
		application = "HTTP"
		within      = "The IP address '10.0.0.1' is within the VPC, and cannot have its Availability Zone overridden to 'all' from 'us-east-1a'"
		required    = "The Availability Zone is required for IP address '192.168.0.1' because it is not in the VPC"
		specify     = "You must specify a valid Availability Zone or select 'all' for all enabled Availability zones, since the IP address '192.168.0.1' is outside the VPC"
		zonal       = "When cross-zone load balancing is disabled on this target group, you must specify an Availability Zone for IP target '192.168.0.1' since it is outside of the VPC"
	)
	for name, tc := range map[string]struct {
		protocol  string
		crossZone string // the attribute, if set
		id, zone  string
		refused   string // why
		listed    string // the zone, if registered
	}{
		"inside, zone detected":           {network, "", "10.0.0.1", "", "", "us-east-1a"},
		"inside, zone given":              {network, "", "10.0.0.1", "us-east-1b", "", "us-east-1b"},
		"inside, all":                     {network, "", "10.0.0.1", "all", within, ""},
		"outside, all":                    {network, "", "192.168.0.1", "all", "", "all"},
		"outside, zone given":             {network, "", "192.168.0.1", "us-east-1b", "", "us-east-1b"},
		"outside, nothing":                {network, "", "192.168.0.1", "", required, ""},
		"outside, all, cross-zone off":    {network, "false", "192.168.0.1", "all", "", "all"},
		"second range, no zone":           {network, "", "100.64.0.1", "", "", "us-east-1a"},
		"ALB, inside":                     {application, "", "10.0.0.1", "", "", "us-east-1a"},
		"ALB, inside, off":                {application, "false", "10.0.0.1", "", "", "us-east-1a"},
		"ALB, inside, all":                {application, "", "10.0.0.1", "all", within, ""},
		"ALB, inside, all, off":           {application, "false", "10.0.0.1", "all", within, ""},
		"ALB, outside, nothing":           {application, "", "192.168.0.1", "", specify, ""},
		"ALB, outside, all":               {application, "true", "192.168.0.1", "all", "", "all"},
		"ALB, outside, zone is ignored":   {application, "", "192.168.0.1", "us-east-1b", "", "all"},
		"ALB, outside, nothing, off":      {application, "false", "192.168.0.1", "", zonal, ""},
		"ALB, outside, all, off":          {application, "false", "192.168.0.1", "all", zonal, ""},
		"ALB, outside, zone given, off":   {application, "false", "192.168.0.1", "us-east-1b", "", "us-east-1b"},
		"outside, nothing, cross-zone on": {network, "true", "192.168.0.1", "", required, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(g *elbsim.Group) { g.Protocol = tc.protocol })
			b.inVPC("10.0.0.0/16", "100.64.0.0/10")
			if tc.crossZone != "" {
				b.Expect(b.setCrossZone(tc.crossZone)).To(Succeed())
			}
			err := b.registerIn(tc.zone, tc.id)
			if tc.refused != "" {
				b.Expect(code(err)).To(Equal("ValidationError"))
				b.Expect(err).To(MatchError(ContainSubstring(tc.refused)))
				b.Expect(b.Registered(b.arn)).To(BeEmpty())
				return
			}
			b.Expect(err).NotTo(HaveOccurred())
			out, err := b.elb.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &b.arn})
			b.Expect(err).NotTo(HaveOccurred())
			b.Expect(out.TargetHealthDescriptions).To(HaveLen(1))
			b.Expect(out.TargetHealthDescriptions[0].Target.AvailabilityZone).To(HaveValue(Equal(tc.listed)))
			b.Expect(b.deregister(tc.id + ":80")).To(Succeed())
			b.Expect(b.Registered(b.arn)).To(BeEmpty())
		})
	}
}

func TestJustOutsideARange(t *testing.T) {
	b := newBench(t)
	b.inVPC("100.64.0.0/10")
	b.Expect(b.registerIn("", "100.127.255.255")).To(Succeed())
	b.Expect(code(b.registerIn("", "100.128.0.0"))).To(Equal("ValidationError"))
}

func TestCrossZoneStaysOnWhileTargetsHaveAllZones(t *testing.T) {
	for protocol, want := range map[string]string{"HTTP": "InvalidConfigurationRequest", "TCP": ""} {
		t.Run(protocol, func(t *testing.T) {
			b := newBench(t, func(g *elbsim.Group) { g.Protocol = protocol })
			b.inVPC("10.0.0.0/16")
			b.Expect(b.registerIn("", "10.0.0.1")).To(Succeed())
			b.Expect(b.setCrossZone("false")).To(Succeed())
			b.Expect(b.setCrossZone("true")).To(Succeed())
			b.Expect(b.registerIn("all", "192.168.0.1")).To(Succeed())
			b.Expect(code(b.setCrossZone("false"))).To(Equal(want))
			b.Expect(b.setCrossZone("true")).To(Succeed())
		})
	}
}

func TestDeregistrationThatGoesByZone(t *testing.T) {
	for _, zoned := range []bool{false, true} {
		t.Run(strconv.FormatBool(zoned), func(t *testing.T) {
			b := newBench(t)
			b.inVPC("10.0.0.0/16")
			b.Configure(func(s *elbsim.Settings) { s.ZonedDeregistration = zoned })
			b.Expect(b.registerIn("all", "192.168.0.1")).To(Succeed())
			b.Expect(b.registerIn("", "10.0.0.1")).To(Succeed())
			b.Expect(b.deregister("192.168.0.1:80", "10.0.0.1:80")).To(Succeed())
			if !zoned {
				b.Expect(b.Registered(b.arn)).To(BeEmpty())
				return
			}
			b.Expect(b.Registered(b.arn)).To(Equal([]string{"192.168.0.1:80"}))
			all := "all"
			_, err := b.elb.DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{TargetGroupArn: &b.arn, Targets: []types.TargetDescription{
				{Id: aws.String("192.168.0.1"), Port: aws.Int32(80), AvailabilityZone: &all},
			}})
			b.Expect(err).NotTo(HaveOccurred())
			b.Expect(b.Registered(b.arn)).To(BeEmpty())
		})
	}
}

func (b *bench) inVPC(ranges ...string) {
	b.Expect(b.ConfigureGroup(b.arn, func(s *elbsim.Settings) {
		for _, r := range ranges {
			s.VPCCIDRs = append(s.VPCCIDRs, netip.MustParsePrefix(r))
		}
	})).To(Succeed())
}

func (b *bench) setCrossZone(value string) error {
	key := "load_balancing.cross_zone.enabled"
	_, err := b.elb.ModifyTargetGroupAttributes(ctx, &elbv2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: &b.arn, Attributes: []types.TargetGroupAttribute{{Key: &key, Value: &value}},
	})
	return err
}

// registerIn registers port 80 of the address, in a zone unless it is empty.
func (b *bench) registerIn(zone, id string) error {
	target := types.TargetDescription{Id: &id, Port: aws.Int32(80)}
	if zone != "" {
		target.AvailabilityZone = &zone
	}
	_, err := b.elb.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: &b.arn, Targets: []types.TargetDescription{target}})
	return err
}

func TestQuota(t *testing.T) {
	b := newBench(t)
	b.Expect(b.ConfigureGroup(b.arn, func(s *elbsim.Settings) { s.Quota = 3 })).To(Succeed())
	b.Expect(b.register("10.0.0.1:80", "10.0.0.2:80")).To(Succeed())

	b.Expect(code(b.register("10.0.0.3:80", "10.0.0.4:80"))).To(Equal("TooManyTargets"))
	b.Expect(b.Registered(b.arn)).To(Equal([]string{"10.0.0.1:80", "10.0.0.2:80"}))

	b.Expect(b.register("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", "10.0.0.3:80")).To(Succeed())
	b.Expect(b.register("10.0.0.1:80")).To(Succeed(), "a present target in a full group")
	b.Expect(code(b.register("10.0.0.1:81"))).To(Equal("TooManyTargets"), "another port is another target")
}

func TestConfigureReachesGroupsOldAndNew(t *testing.T) {
	b := newBench(t)
	b.Configure(func(s *elbsim.Settings) { s.Quota = 1 })
	b.Expect(code(b.register("10.0.0.1:80", "10.0.0.2:80"))).To(Equal("TooManyTargets"))
	created, err := b.CreateGroup(elbsim.Group{Name: "later", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: "ip"})
	b.Expect(err).NotTo(HaveOccurred())
	b.arn = created.ARN
	b.Expect(code(b.register("10.0.0.1:80", "10.0.0.2:80"))).To(Equal("TooManyTargets"))
	b.Expect(b.ConfigureGroup(b.arn, func(s *elbsim.Settings) { s.Quota = 2 })).To(Succeed())
	b.Expect(b.register("10.0.0.1:80", "10.0.0.2:80")).To(Succeed())
}

func TestDrainingTargetsAndTheQuota(t *testing.T) {
	for _, counts := range []bool{false, true} {
		t.Run(fmt.Sprintf("draining counts %v", counts), func(t *testing.T) {
			b := newBench(t)
			b.Configure(func(s *elbsim.Settings) { s.Quota, s.DrainingCounts = 1, counts })
			b.Expect(b.register("10.0.0.1:80")).To(Succeed())
			b.Expect(b.deregister("10.0.0.1:80")).To(Succeed())

			want := ""
			if counts {
				want = "TooManyTargets"
			}
			b.Expect(code(b.register("10.0.0.2:80"))).To(Equal(want))
			b.clock.advance(300 * time.Second)
			b.Expect(b.register("10.0.0.2:80")).To(Succeed())
		})
	}
}

func TestDefaultQuotaIsThatOfAWS(t *testing.T) {
	b := newBench(t)
	var thousand []string
	for i := range 1000 {
		thousand = append(thousand, fmt.Sprintf("10.0.%d.%d:80", i/250, i%250))
	}
	b.Expect(b.register(thousand...)).To(Succeed())
	b.Expect(code(b.register("10.1.0.0:80"))).To(Equal("TooManyTargets"))
	b.Expect(b.health()).To(HaveLen(1000))
}
