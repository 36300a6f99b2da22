package elbsim_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"target-ownership-controller/test/elbsim"
)

// call does one call on a side and returns what there is to compare: the error
// code, or the answer in words. ARNs are generated, so groups go by name.
type call struct {
	name string
	do   func(*side) string
}

func run(s *side, calls []call) []string {
	var answers []string
	for _, c := range calls {
		answers = append(answers, c.name+" -> "+c.do(s))
	}
	return answers
}

func answer(err error, format string, args ...any) string {
	if err != nil {
		return code(err)
	}
	return fmt.Sprintf(format, args...)
}

func create(name string, port int32, changes ...func(*elbv2.CreateTargetGroupInput)) call {
	return call{fmt.Sprintf("create %s:%d", name, port), func(s *side) string {
		in := newGroupInput(*s.real(name))
		in.Port = &port
		for _, change := range changes {
			change(in)
		}
		out, err := s.elb.CreateTargetGroup(ctx, in)
		if err == nil {
			s.arns[name] = aws.ToString(out.TargetGroups[0].TargetGroupArn)
		}
		return answer(err, "created")
	}}
}

func destroy(name string) call {
	return call{"delete " + name, func(s *side) string {
		_, err := s.elb.DeleteTargetGroup(ctx, &elbv2.DeleteTargetGroupInput{TargetGroupArn: aws.String(s.arns[name])})
		return answer(err, "deleted")
	}}
}

func register(name string, keys ...string) call {
	return call{fmt.Sprint("register ", name, keys), func(s *side) string {
		_, err := s.elb.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{TargetGroupArn: aws.String(s.arns[name]), Targets: descriptions(keys...)})
		return answer(err, "registered")
	}}
}

func deregister(name string, keys ...string) call {
	return call{fmt.Sprint("deregister ", name, keys), func(s *side) string {
		_, err := s.elb.DeregisterTargets(ctx, &elbv2.DeregisterTargetsInput{TargetGroupArn: aws.String(s.arns[name]), Targets: descriptions(keys...)})
		return answer(err, "deregistered")
	}}
}

// healthOf lists the targets with their states: all, or those given.
func healthOf(name string, keys ...string) call {
	return call{fmt.Sprint("health ", name, keys), func(s *side) string {
		out, err := s.elb.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: aws.String(s.arns[name]), Targets: descriptions(keys...)})
		if err != nil {
			return code(err)
		}
		var states []string
		for _, d := range out.TargetHealthDescriptions {
			target := elbsim.Target{ID: aws.ToString(d.Target.Id), Port: aws.ToInt32(d.Target.Port)}
			states = append(states, fmt.Sprint(target.Key(), " ", d.TargetHealth.State))
		}
		slices.Sort(states) // AWS promises no order
		return strings.Join(states, ", ")
	}}
}

// noDrain makes deregistered targets leave at once.
func noDrain(name string) call {
	return call{"no drain " + name, func(s *side) string {
		_, err := s.elb.ModifyTargetGroupAttributes(ctx, delayInput(s.arns[name], "0"))
		return answer(err, "modified")
	}}
}

func drainTime(name string) call {
	return call{"drain time " + name, func(s *side) string {
		out, err := s.elb.DescribeTargetGroupAttributes(ctx, &elbv2.DescribeTargetGroupAttributesInput{TargetGroupArn: aws.String(s.arns[name])})
		if err != nil {
			return code(err)
		}
		i := slices.IndexFunc(out.Attributes, func(a types.TargetGroupAttribute) bool {
			return *a.Key == "deregistration_delay.timeout_seconds"
		})
		return *out.Attributes[i].Value
	}}
}

// describeByName shows the fields that both sides claim to fill.
func describeByName(name string) call {
	return call{"describe " + name, func(s *side) string {
		out, err := s.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{Names: []string{*s.real(name)}})
		return answer(err, "%s", fields(out, s.arns[name]))
	}}
}

func describeByARN(name string) call {
	return call{"describe ARN of " + name, func(s *side) string {
		out, err := s.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{TargetGroupArns: []string{s.arns[name]}})
		return answer(err, "%s", fields(out, s.arns[name]))
	}}
}

func fields(out *elbv2.DescribeTargetGroupsOutput, arn string) string {
	if out == nil {
		return ""
	}
	var all []string
	for _, g := range out.TargetGroups {
		matcher := ""
		if g.Matcher != nil {
			matcher = aws.ToString(g.Matcher.HttpCode)
		}
		all = append(all, fmt.Sprint(
			aws.ToString(g.TargetGroupName), " same ARN ", aws.ToString(g.TargetGroupArn) == arn,
			" ", g.Protocol, ":", aws.ToInt32(g.Port), " ", g.TargetType, " ", aws.ToString(g.VpcId),
			" check ", g.HealthCheckProtocol, ":", aws.ToString(g.HealthCheckPort), aws.ToString(g.HealthCheckPath),
			" ", aws.ToBool(g.HealthCheckEnabled), " every ", aws.ToInt32(g.HealthCheckIntervalSeconds),
			" up ", aws.ToInt32(g.HealthyThresholdCount), " down ", aws.ToInt32(g.UnhealthyThresholdCount), " codes ", matcher))
	}
	return strings.Join(all, "\n")
}

func tagsOf(name string) call {
	return call{"tags " + name, func(s *side) string {
		out, err := s.elb.DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: []string{s.arns[name]}})
		if err != nil {
			return code(err)
		}
		return fmt.Sprint(len(out.TagDescriptions), " resources, ", len(out.TagDescriptions[0].Tags), " tags")
	}}
}

func registerWithoutPort(name, id string) call {
	return call{"register without port", func(s *side) string {
		_, err := s.elb.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{
			TargetGroupArn: aws.String(s.arns[name]), Targets: []types.TargetDescription{{Id: &id}},
		})
		return answer(err, "registered")
	}}
}

func registerMany(name string, n int) call {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("10.0.%d.%d:80", i/250, i%250))
	}
	return register(name, keys...)
}

// field reads one field of a group.
func field(name, of string, read func(types.TargetGroup) string) call {
	return call{of + " of " + name, func(s *side) string {
		out, err := s.elb.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{Names: []string{*s.real(name)}})
		if err != nil {
			return code(err)
		}
		return read(out.TargetGroups[0])
	}}
}

func healthCheckProtocol(name string) call {
	return field(name, "health check protocol", func(g types.TargetGroup) string { return string(g.HealthCheckProtocol) })
}

func ipAddressType(name string) call {
	return field(name, "IP address type", func(g types.TargetGroup) string { return string(g.IpAddressType) })
}

func healthCheckTimeout(name string) call {
	return field(name, "health check timeout", func(g types.TargetGroup) string {
		return strconv.Itoa(int(aws.ToInt32(g.HealthCheckTimeoutSeconds)))
	})
}

func accountLimit(limit string) call {
	return call{"limit " + limit, func(s *side) string {
		out, err := s.elb.DescribeAccountLimits(ctx, &elbv2.DescribeAccountLimitsInput{})
		if err != nil {
			return code(err)
		}
		for _, l := range out.Limits {
			if aws.ToString(l.Name) == limit {
				return aws.ToString(l.Max)
			}
		}
		return "absent"
	}}
}
