package elbsim

import (
	"maps"
	"regexp"
	"slices"
	"time"
)

// Group is a target group as DescribeTargetGroups reports it. Fields that are
// left empty at creation get the defaults of the CreateTargetGroup reference.
type Group struct {
	ARN                 string   `xml:"TargetGroupArn"`
	Name                string   `xml:"TargetGroupName"`
	Protocol            string   `xml:"Protocol"`
	ProtocolVersion     string   `xml:"ProtocolVersion,omitempty" json:",omitempty"`
	Port                int32    `xml:"Port"`
	VPCID               string   `xml:"VpcId"`
	TargetType          string   `xml:"TargetType"`
	IPAddressType       string   `xml:"IpAddressType"`
	HealthCheckEnabled  bool     `xml:"HealthCheckEnabled"`
	HealthCheckPath     string   `xml:"HealthCheckPath,omitempty" json:",omitempty"`
	HealthCheckPort     string   `xml:"HealthCheckPort"`
	HealthCheckProtocol string   `xml:"HealthCheckProtocol"`
	HealthCheckInterval int32    `xml:"HealthCheckIntervalSeconds"` // seconds
	HealthCheckTimeout  int32    `xml:"HealthCheckTimeoutSeconds"`  // seconds
	HealthyThreshold    int32    `xml:"HealthyThresholdCount"`
	UnhealthyThreshold  int32    `xml:"UnhealthyThresholdCount"`
	Matcher             *Matcher `xml:"Matcher,omitempty" json:",omitempty"`
}

// Matcher holds the HTTP codes that a health check accepts.
type Matcher struct {
	HTTPCode string `xml:"HttpCode"`
}

// Target types and IP address types.
const (
	TargetTypeInstance = "instance"
	TargetTypeIP       = "ip"
	IPv4               = "ipv4"
	IPv6               = "ipv6"
)

var (
	groupName = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$`)
	groupARN  = regexp.MustCompile(`^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:\d{12}:targetgroup/[A-Za-z0-9-]{1,32}/[0-9a-f]+$`)
	protocols = []string{"HTTP", "HTTPS", "TCP", "TLS", "UDP", "TCP_UDP", "QUIC", "TCP_QUIC"}
)

func (g Group) isHTTP() bool { return g.Protocol == "HTTP" || g.Protocol == "HTTPS" }

// withDefaults completes a new group (defaults and ranges: API reference,
// CreateTargetGroup).
func (g Group) withDefaults() Group {
	setDefault(&g.TargetType, TargetTypeInstance)
	setDefault(&g.IPAddressType, IPv4)
	setDefault(&g.HealthCheckPort, "traffic-port")
	setDefault(&g.HealthCheckInterval, 30)
	setDefault(&g.HealthyThreshold, 5)
	setDefault(&g.UnhealthyThreshold, 2)
	if g.isHTTP() {
		setDefault(&g.ProtocolVersion, "HTTP1")
		setDefault(&g.HealthCheckProtocol, "HTTP")
		setDefault(&g.HealthCheckPath, "/")
		setDefault(&g.Matcher, &Matcher{HTTPCode: "200"})
	}
	if g.Protocol == "HTTP" {
		setDefault(&g.HealthCheckTimeout, 6)
	}
	setDefault(&g.HealthCheckProtocol, "TCP")
	setDefault(&g.HealthCheckTimeout, 10)
	g.HealthCheckEnabled = true
	return g
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate checks a completed group (messages: CloudFormation reports the same
// texts when the field is missing).
func (g Group) validate() *Error {
	switch {
	case !groupName.MatchString(g.Name):
		return validationError("Target group name '%s' must have 1 to 32 alphanumeric characters or hyphens and not begin or end with a hyphen", g.Name)
	case g.Protocol == "":
		return validationError("A protocol must be specified")
	case !slices.Contains(protocols, g.Protocol):
		return validationError("Protocol '%s' is not simulated", g.Protocol)
	case g.Port == 0:
		return validationError("A port must be specified")
	case g.Port < 1 || g.Port > 65535:
		return validationError("Port '%d' must be between 1 and 65535", g.Port)
	case g.VPCID == "":
		return validationError("A VPC ID must be specified")
	case g.TargetType != TargetTypeInstance && g.TargetType != TargetTypeIP:
		return validationError("Target type '%s' is not simulated", g.TargetType)
	case g.IPAddressType != IPv4 && g.IPAddressType != IPv6:
		return validationError("IP address type '%s' must be ipv4 or ipv6", g.IPAddressType)
	}
	return nil
}

// sameAs compares what the creator chose, that is everything but the ARN.
func (g Group) sameAs(other Group) bool {
	sameMatcher := (g.Matcher == nil) == (other.Matcher == nil) &&
		(g.Matcher == nil || *g.Matcher == *other.Matcher)
	g.ARN, g.Matcher = other.ARN, other.Matcher
	return sameMatcher && g == other
}

// group is a target group with all that belongs to it.
type group struct {
	Group
	settings   Settings
	attributes map[string]string
	targets    map[string]*registration
}

// registration is a target that is registered, or draining until a time.
type registration struct {
	target       Target
	since        time.Time
	drainedAt    time.Time // zero while registered
	healthForced *Health
}

func (r *registration) draining() bool { return !r.drainedAt.IsZero() }

const deregistrationDelay = "deregistration_delay.timeout_seconds"

func newGroup(g Group, settings Settings) *group {
	return &group{
		Group:    g,
		settings: settings,
		attributes: map[string]string{
			deregistrationDelay:  "300",
			"stickiness.enabled": "false",
		},
		targets: map[string]*registration{},
	}
}

// forgetDrained drops the targets whose deregistration delay is over.
func (g *group) forgetDrained(now time.Time) {
	maps.DeleteFunc(g.targets, func(_ string, r *registration) bool {
		return r.draining() && !now.Before(r.drainedAt)
	})
}
