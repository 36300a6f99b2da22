package elbsim

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// actions are the calls that are simulated. Each reads its parameters, acts on
// the account at the given time, and returns what goes into <ActionResult>.
var actions = map[string]struct {
	mutates bool
	run     func(*account, form, time.Time) (any, *Error)
}{
	"CreateTargetGroup":             {true, createTargetGroup},
	"DeleteTargetGroup":             {true, deleteTargetGroup},
	"DescribeTargetGroups":          {false, describeTargetGroups},
	"ModifyTargetGroupAttributes":   {true, modifyTargetGroupAttributes},
	"DescribeTargetGroupAttributes": {false, describeTargetGroupAttributes},
	"RegisterTargets":               {true, registerTargets},
	"DeregisterTargets":             {true, deregisterTargets},
	"DescribeTargetHealth":          {false, describeTargetHealth},
	"DescribeTags":                  {false, describeTags},
	"DescribeAccountLimits":         {false, describeAccountLimits},
	"AssumeRole":                    {false, assumeRole},
	"GetCallerIdentity":             {false, getCallerIdentity},
}

type empty struct{}

type targetGroupsResult struct {
	TargetGroups list[Group]
	NextMarker   string `xml:",omitempty"`
}

func createTargetGroup(a *account, f form, _ time.Time) (any, *Error) {
	g := Group{
		Name:                f.Get("Name"),
		Protocol:            f.Get("Protocol"),
		ProtocolVersion:     f.Get("ProtocolVersion"),
		Port:                f.number("Port"),
		VPCID:               f.Get("VpcId"),
		TargetType:          f.Get("TargetType"),
		IPAddressType:       f.Get("IpAddressType"),
		HealthCheckPath:     f.Get("HealthCheckPath"),
		HealthCheckPort:     f.Get("HealthCheckPort"),
		HealthCheckProtocol: f.Get("HealthCheckProtocol"),
		HealthCheckInterval: f.number("HealthCheckIntervalSeconds"),
		HealthCheckTimeout:  f.number("HealthCheckTimeoutSeconds"),
		HealthyThreshold:    f.number("HealthyThresholdCount"),
		UnhealthyThreshold:  f.number("UnhealthyThresholdCount"),
	}
	if f.Has("Matcher.HttpCode") {
		g.Matcher = &Matcher{HTTPCode: f.Get("Matcher.HttpCode")}
	}
	created, err := a.createGroup(g)
	return targetGroupsResult{TargetGroups: list[Group]{[]Group{created}}}, err
}

// deleteTargetGroup succeeds for a group that does not exist: ResourceInUse is
// the only error in the API reference of DeleteTargetGroup. Nothing uses a
// group here, so it can always be deleted.
func deleteTargetGroup(a *account, f form, _ time.Time) (any, *Error) {
	arn := f.Get("TargetGroupArn")
	if !groupARN.MatchString(arn) {
		return nil, validationError("'%s' is not a valid target group ARN", arn)
	}
	if a.owns(arn) {
		delete(a.groups, arn)
	}
	return empty{}, nil
}

const maxPageSize = 400 // API reference, DescribeTargetGroups

// describeTargetGroups pages by name: the marker is the last name of a page.
func describeTargetGroups(a *account, f form, _ time.Time) (any, *Error) {
	if f.Has("LoadBalancerArn") {
		return nil, badRequest("LoadBalancerNotFound", "Load balancers '%s' not found", f.Get("LoadBalancerArn"))
	}
	size := maxPageSize
	if f.Has("PageSize") {
		size = int(f.number("PageSize"))
	}
	if size < 1 || size > maxPageSize {
		return nil, validationError("Page size must be between 1 and %d", maxPageSize)
	}
	groups, err := a.describeGroups(f.list("TargetGroupArns"), f.list("Names"))
	if err != nil {
		return nil, err
	}
	if marker := f.Get("Marker"); marker != "" {
		groups = slices.DeleteFunc(groups, func(g Group) bool { return g.Name <= marker })
	}
	result := targetGroupsResult{TargetGroups: list[Group]{groups}}
	if len(groups) > size {
		result.TargetGroups.Members = groups[:size]
		result.NextMarker = groups[size-1].Name
	}
	return result, nil
}

type attributesResult struct{ Attributes list[Attribute] }

func modifyTargetGroupAttributes(a *account, f form, now time.Time) (any, *Error) {
	g, err := a.group(f.Get("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	if err := g.modifyAttributes(f.attributes()); err != nil {
		return nil, err
	}
	return describeTargetGroupAttributes(a, f, now)
}

func describeTargetGroupAttributes(a *account, f form, _ time.Time) (any, *Error) {
	g, err := a.group(f.Get("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	var result attributesResult
	for _, key := range slices.Sorted(maps.Keys(g.attributes)) {
		result.Attributes.Members = append(result.Attributes.Members, Attribute{key, g.attributes[key]})
	}
	return result, nil
}

func registerTargets(a *account, f form, now time.Time) (any, *Error) {
	g, err := a.group(f.Get("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	targets, err := f.validTargets(g.Port)
	if err != nil {
		return nil, err
	}
	return empty{}, a.register(g, targets, now)
}

func deregisterTargets(a *account, f form, now time.Time) (any, *Error) {
	g, err := a.group(f.Get("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	targets, err := f.validTargets(g.Port)
	if err != nil {
		return nil, err
	}
	a.deregister(g, targets, now)
	return empty{}, nil
}

type healthDescription struct {
	HealthCheckPort string `xml:",omitempty"`
	Target          struct {
		Id               string
		Port             int32
		AvailabilityZone string `xml:",omitempty"`
	}
	TargetHealth struct {
		State       string
		Reason      string `xml:",omitempty"`
		Description string `xml:",omitempty"`
	}
}

func describeTargetHealth(a *account, f form, now time.Time) (any, *Error) {
	g, err := a.group(f.Get("TargetGroupArn"))
	if err != nil {
		return nil, err
	}
	var statuses []TargetStatus
	if asked := f.targets(g.Port); len(asked) > 0 {
		statuses = a.statusesOf(g, asked, now)
	} else {
		statuses = a.statuses(g, now)
	}
	var result struct{ TargetHealthDescriptions list[healthDescription] }
	for _, status := range statuses {
		result.TargetHealthDescriptions.Members = append(result.TargetHealthDescriptions.Members, describe(status))
	}
	return result, nil
}

func describe(s TargetStatus) healthDescription {
	var d healthDescription
	d.Target.Id, d.Target.Port, d.Target.AvailabilityZone = s.Target.ID, s.Target.Port, s.Target.Zone
	d.TargetHealth.State, d.TargetHealth.Reason = string(s.Health.State), string(s.Health.Reason)
	d.TargetHealth.Description = s.Health.Description
	if s.Health != notRegistered {
		d.HealthCheckPort = strconv.Itoa(int(s.Target.Port))
	}
	return d
}

// maxTagged is the number of ARNs that one DescribeTags takes (API reference).
const maxTagged = 20

func describeTags(a *account, f form, _ time.Time) (any, *Error) {
	type tag struct{ Key, Value string }
	type description struct {
		ResourceArn string
		Tags        list[tag]
	}
	arns := f.list("ResourceArns")
	if len(arns) > maxTagged {
		return nil, validationError("Cannot have more than %d resource ARNs in a call", maxTagged)
	}
	var result struct{ TagDescriptions list[description] }
	for _, arn := range arns {
		g, err := a.group(arn)
		if err != nil {
			return nil, err
		}
		d := description{ResourceArn: arn}
		for _, key := range slices.Sorted(maps.Keys(g.settings.Tags)) {
			d.Tags.Members = append(d.Tags.Members, tag{key, g.settings.Tags[key]})
		}
		result.TagDescriptions.Members = append(result.TagDescriptions.Members, d)
	}
	return result, nil
}

func describeAccountLimits(a *account, _ form, _ time.Time) (any, *Error) {
	type limit struct{ Name, Max string }
	var result struct{ Limits list[limit] }
	result.Limits.Members = []limit{
		{"target-groups", "3000"},
		{"targets-per-target-group", strconv.Itoa(a.defaults.Quota)},
	}
	return result, nil
}
