package elbsim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

var ctx = context.Background()

const noSuchGroup = "arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/gone/0123456789abcdef"

func TestDescribeTargetGroupsReportsWhatWasCreated(t *testing.T) {
	b := newBench(t)
	created, err := b.elb.CreateTargetGroup(ctx, &elbv2.CreateTargetGroupInput{
		Name: aws.String("dns"), Protocol: types.ProtocolEnumUdp, Port: aws.Int32(53), VpcId: aws.String("vpc-2"),
		TargetType: types.TargetTypeEnumIp, IpAddressType: types.TargetGroupIpAddressTypeEnumIpv6,
	})
	b.Expect(err).NotTo(HaveOccurred())

	byName, err := b.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{Names: []string{"dns"}})
	b.Expect(err).NotTo(HaveOccurred())
	byARN, err := b.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{
		TargetGroupArns: []string{*created.TargetGroups[0].TargetGroupArn},
	})
	b.Expect(err).NotTo(HaveOccurred())

	b.Expect(byName.TargetGroups).To(Equal(byARN.TargetGroups))
	b.Expect(byName.TargetGroups).To(Equal([]types.TargetGroup{{
		TargetGroupArn:             byARN.TargetGroups[0].TargetGroupArn,
		TargetGroupName:            aws.String("dns"),
		Protocol:                   types.ProtocolEnumUdp,
		Port:                       aws.Int32(53),
		VpcId:                      aws.String("vpc-2"),
		TargetType:                 types.TargetTypeEnumIp,
		IpAddressType:              types.TargetGroupIpAddressTypeEnumIpv6,
		HealthCheckEnabled:         aws.Bool(true),
		HealthCheckPort:            aws.String("traffic-port"),
		HealthCheckProtocol:        types.ProtocolEnumTcp,
		HealthCheckIntervalSeconds: aws.Int32(30),
		HealthCheckTimeoutSeconds:  aws.Int32(10),
		HealthyThresholdCount:      aws.Int32(5),
		UnhealthyThresholdCount:    aws.Int32(2),
	}}))
	b.Expect(*byARN.TargetGroups[0].TargetGroupArn).To(MatchRegexp(
		`^arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/dns/[0-9a-f]{16}$`))
}

func TestDescribeTargetGroupsPages(t *testing.T) {
	b := newBench(t)
	for i := range 4 {
		_, err := b.elb.CreateTargetGroup(ctx, newGroupInput(fmt.Sprintf("g%d", i)))
		b.Expect(err).NotTo(HaveOccurred())
	}
	var pages [][]string
	pager := elbv2.NewDescribeTargetGroupsPaginator(b.elb, &elbv2.DescribeTargetGroupsInput{PageSize: aws.Int32(2)})
	for pager.HasMorePages() {
		page, err := pager.NextPage(ctx)
		b.Expect(err).NotTo(HaveOccurred())
		var names []string
		for _, g := range page.TargetGroups {
			names = append(names, *g.TargetGroupName)
		}
		pages = append(pages, names)
	}
	b.Expect(pages).To(Equal([][]string{{"g0", "g1"}, {"g2", "g3"}, {"web"}}))
}

func TestCreateTargetGroupRules(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*elbv2.CreateTargetGroupInput)
		want   string
	}{
		"same settings again":   {func(*elbv2.CreateTargetGroupInput) {}, ""},
		"other settings":        {func(in *elbv2.CreateTargetGroupInput) { in.Port = aws.Int32(81) }, "DuplicateTargetGroupName"},
		"other matcher":         {func(in *elbv2.CreateTargetGroupInput) { in.Matcher = &types.Matcher{HttpCode: aws.String("204")} }, "DuplicateTargetGroupName"},
		"no protocol":           {func(in *elbv2.CreateTargetGroupInput) { in.Name, in.Protocol = aws.String("n"), "" }, "ValidationError"},
		"unknown protocol":      {func(in *elbv2.CreateTargetGroupInput) { in.Name, in.Protocol = aws.String("n"), "SCTP" }, "ValidationError"},
		"no port":               {func(in *elbv2.CreateTargetGroupInput) { in.Name, in.Port = aws.String("n"), nil }, "ValidationError"},
		"no VPC":                {func(in *elbv2.CreateTargetGroupInput) { in.Name, in.VpcId = aws.String("n"), nil }, "ValidationError"},
		"name of 33 characters": {func(in *elbv2.CreateTargetGroupInput) { in.Name = aws.String(strings.Repeat("n", 33)) }, "ValidationError"},
		"lambda":                {func(in *elbv2.CreateTargetGroupInput) { in.Name, in.TargetType = aws.String("n"), "lambda" }, "ValidationError"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			in := newGroupInput("web")
			tc.change(in)
			_, err := b.elb.CreateTargetGroup(ctx, in)
			b.Expect(code(err)).To(Equal(tc.want))
		})
	}
}

func newGroupInput(name string) *elbv2.CreateTargetGroupInput {
	return &elbv2.CreateTargetGroupInput{
		Name: &name, Protocol: types.ProtocolEnumHttp, Port: aws.Int32(80),
		VpcId: aws.String("vpc-1"), TargetType: types.TargetTypeEnumIp,
	}
}

func TestMissingAndMalformedGroups(t *testing.T) {
	for arn, want := range map[string]string{noSuchGroup: "TargetGroupNotFound", "web": "ValidationError"} {
		b := newBench(t)
		b.arn = arn
		_, health := b.elb.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: &arn})
		_, describe := b.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{TargetGroupArns: []string{arn}})
		_, tags := b.elb.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: []string{arn}})
		_, attributes := b.elb.DescribeTargetGroupAttributes(ctx, &elbv2.DescribeTargetGroupAttributesInput{TargetGroupArn: &arn})
		_, modify := b.elb.ModifyTargetGroupAttributes(ctx, delayInput(arn, "1"))
		for action, err := range map[string]error{
			"register": b.register("10.0.0.1:80"), "deregister": b.deregister("10.0.0.1:80"), "health": health,
			"describe": describe, "tags": tags, "attributes": attributes, "modify": modify,
		} {
			b.Expect(code(err)).To(Equal(want), action+" "+arn)
		}
	}
}

func TestDeletedGroupIsGone(t *testing.T) {
	b := newBench(t)
	for range 2 { // the second call finds nothing to delete, and succeeds
		_, err := b.elb.DeleteTargetGroup(ctx, &elbv2.DeleteTargetGroupInput{TargetGroupArn: &b.arn})
		b.Expect(err).NotTo(HaveOccurred())
	}
	_, err := b.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{Names: []string{"web"}})
	b.Expect(code(err)).To(Equal("TargetGroupNotFound"))
}

func TestDeregistrationDelayAttribute(t *testing.T) {
	b := newBench(t)
	b.Expect(b.delay()).To(Equal("300"))
	b.setDelay("7")
	b.Expect(b.delay()).To(Equal("7"))
	for _, bad := range []string{"-1", "3601", "soon"} {
		_, err := b.elb.ModifyTargetGroupAttributes(ctx, delayInput(b.arn, bad))
		b.Expect(code(err)).To(Equal("InvalidConfigurationRequest"), bad)
	}
	b.Expect(b.delay()).To(Equal("7"))
}

func (b *bench) delay() string {
	out, err := b.elb.DescribeTargetGroupAttributes(ctx, &elbv2.DescribeTargetGroupAttributesInput{TargetGroupArn: &b.arn})
	b.Expect(err).NotTo(HaveOccurred())
	for _, a := range out.Attributes {
		if *a.Key == "deregistration_delay.timeout_seconds" {
			return *a.Value
		}
	}
	return "absent"
}

func TestTagsAndLimits(t *testing.T) {
	b := newBench(t)
	tags, err := b.elb.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: []string{b.arn}})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(tags.TagDescriptions).To(HaveLen(1))
	b.Expect(tags.TagDescriptions[0].ResourceArn).To(HaveValue(Equal(b.arn)))
	b.Expect(tags.TagDescriptions[0].Tags).To(BeEmpty())

	b.Expect(b.ConfigureGroup(b.arn, func(s *elbsim.Settings) { s.Tags = map[string]string{"team": "shop", "a": ""} })).To(Succeed())
	tags, err = b.elb.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: []string{b.arn}})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(tags.TagDescriptions[0].Tags).To(Equal([]types.Tag{{Key: aws.String("a"), Value: aws.String("")}, {Key: aws.String("team"), Value: aws.String("shop")}}))
	_, err = b.elb.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: slices.Repeat([]string{b.arn}, 21)})
	b.Expect(code(err)).To(Equal("ValidationError"))

	limits, err := b.elb.DescribeAccountLimits(ctx, &elbv2.DescribeAccountLimitsInput{})
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(limits.Limits).To(ContainElement(types.Limit{Name: aws.String("targets-per-target-group"), Max: aws.String("1000")}))
}

func TestUnknownAction(t *testing.T) {
	b := newBench(t)
	_, err := b.elb.DescribeListeners(ctx, &elbv2.DescribeListenersInput{})
	b.Expect(code(err)).To(Equal("InvalidAction"))
	b.Expect(err).To(MatchError(ContainSubstring("DescribeListeners")))
}
