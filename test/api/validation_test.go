package api_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	arnBlue    = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/blue/73e2d6bc24d8a067"
	arnGreen   = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/green/0123456789abcdef"
	serviceRef = "serviceRef: {name: web, port: 80}"
)

var goodSpecs = map[string]string{
	"by ARN":             "{targetGroupARN: " + arnBlue + ", " + serviceRef + "}",
	"by name":            "{targetGroupName: blue, " + serviceRef + "}",
	"by both, as stored": "{targetGroupARN: " + arnBlue + ", targetGroupName: blue, " + serviceRef + "}",
	"name empty":         `{targetGroupARN: "` + arnBlue + `", targetGroupName: "", ` + serviceRef + "}",
	"ARN empty":          `{targetGroupARN: "", targetGroupName: blue, ` + serviceRef + "}",
	"China":              "{targetGroupARN: 'arn:aws-cn:elasticloadbalancing:cn-north-1:123456789012:targetgroup/blue/73e2d6bc24d8a067', " + serviceRef + "}",
	"GovCloud":           "{targetGroupARN: 'arn:aws-us-gov:elasticloadbalancing:us-gov-west-1:123456789012:targetgroup/blue/73e2d6bc24d8a067', " + serviceRef + "}",
	"longest group name": "{targetGroupName: a2345678901234567890123456789-12, " + serviceRef + "}",
	"group name of one":  "{targetGroupName: B, " + serviceRef + "}",
	"port by name":       "{targetGroupName: blue, serviceRef: {name: web, port: http}}",
	"port of digits":     "{targetGroupName: blue, serviceRef: {name: web, port: '80'}}",
	"lowest port":        "{targetGroupName: blue, serviceRef: {name: web, port: 1}}",
	"highest port":       "{targetGroupName: blue, serviceRef: {name: web, port: 65535}}",
	"longest port name":  "{targetGroupName: blue, serviceRef: {name: web, port: " + strings.Repeat("p", 63) + "}}",
	"shared":             "{targetGroupName: blue, multiClusterTargetGroup: true, " + serviceRef + "}",
	"optional fields empty": `{targetGroupName: blue, vpcID: "", iamRoleArnToAssume: "", assumeRoleExternalId: "", networking: {}, ` +
		serviceRef + "}",
	"short VPC ID":                 "{targetGroupName: blue, vpcID: vpc-0a1b2c3d, " + serviceRef + "}",
	"long VPC ID":                  "{targetGroupName: blue, vpcID: vpc-0123456789abcdef0123456789abcdef, " + serviceRef + "}",
	"selector, type inferred":      "{targetGroupName: blue, nodeSelector: {matchLabels: {pool: edge}}, " + serviceRef + "}",
	"selector of everything":       "{targetGroupName: blue, targetType: instance, nodeSelector: {}, " + serviceRef + "}",
	"role, type inferred":          "{targetGroupName: blue, iamRoleArnToAssume: 'arn:aws:iam::123456789012:role/targets', " + serviceRef + "}",
	"role with a path":             "{targetGroupName: blue, targetType: ip, iamRoleArnToAssume: 'arn:aws:iam::123456789012:role/team/a/targets', " + serviceRef + "}",
	"external ID without a role":   "{targetGroupName: blue, targetType: instance, assumeRoleExternalId: s3cret, " + serviceRef + "}",
	"QUIC":                         "{targetGroupName: blue, targetType: ip, targetGroupProtocol: QUIC, " + serviceRef + "}",
	"TCP_QUIC, type inferred":      "{targetGroupName: blue, targetGroupProtocol: TCP_QUIC, " + serviceRef + "}",
	"networking without peers":     "{targetGroupName: blue, networking: {ingress: [{from: [], ports: []}]}, " + serviceRef + "}",
	"networking, port without all": "{targetGroupName: blue, networking: {ingress: [{from: [{}], ports: [{}]}]}, " + serviceRef + "}",

	"every field, ip": `
targetGroupARN: ` + arnBlue + `
targetGroupName: blue
multiClusterTargetGroup: true
targetType: ip
targetGroupProtocol: TCP_UDP
ipAddressType: ipv6
vpcID: vpc-0123456789abcdef0
iamRoleArnToAssume: arn:aws:iam::210987654321:role/targets
assumeRoleExternalId: eu-west/cluster-1
serviceRef: {name: web, port: https}
networking:
  ingress:
  - from:
    - securityGroup: {groupID: sg-0b6a41a2fd959623f}
    - ipBlock: {cidr: 10.0.0.0/16}
    ports:
    - {protocol: TCP, port: 8443}
    - {protocol: UDP, port: dns}
    - {}
`,
	"every field, instance": `
targetGroupName: blue
multiClusterTargetGroup: false
targetType: instance
targetGroupProtocol: HTTPS
ipAddressType: ipv4
vpcID: vpc-0123456789abcdef0
serviceRef: {name: web, port: 443}
nodeSelector:
  matchLabels: {node-role: edge}
  matchExpressions:
  - {key: zone, operator: In, values: [a, b]}
  - {key: spot, operator: DoesNotExist}
`,
}

func TestAccepted(t *testing.T) {
	for name, spec := range goodSpecs {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := binding(g, spec)
			sent := object.DeepCopy()
			g.Expect(kubectl.Create(t.Context(), object)).To(Succeed())
			g.Expect(object.Object["spec"]).To(Equal(sent.Object["spec"]), "nothing is dropped or defaulted")
		})
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		spec           string
		field, message string // what the person who wrote the manifest reads
	}{
		"no group":            {"{" + serviceRef + "}", "spec", "set targetGroupARN or targetGroupName"},
		"both empty":          {`{targetGroupARN: "", targetGroupName: "", ` + serviceRef + "}", "spec", "set targetGroupARN or targetGroupName"},
		"two groups":          {"{targetGroupARN: " + arnBlue + ", targetGroupName: green, " + serviceRef + "}", "spec.targetGroupName", "targetGroupARN is the ARN of a group with another name"},
		"name is a part only": {"{targetGroupARN: " + arnBlue + ", targetGroupName: blu, " + serviceRef + "}", "spec.targetGroupName", "a group with another name"},
		"load balancer ARN":   {"{targetGroupARN: 'arn:aws:elasticloadbalancing:eu-west-1:123456789012:loadbalancer/net/blue/73e2d6bc24d8a067', " + serviceRef + "}", "spec.targetGroupARN", "must be the ARN of a target group"},
		"ARN misspelt":        {"{targetGroupARN: 'arn:aws:elasticloadbalancing:eu-west-1:12345678901:targetgroup/blue/73e2d6bc24d8a067', " + serviceRef + "}", "spec.targetGroupARN", "must be the ARN of a target group"},
		"ARN with a tail":     {"{targetGroupARN: '" + arnBlue + "/x', " + serviceRef + "}", "spec.targetGroupARN", "must be the ARN of a target group"},
		"ARN too long":        {"{targetGroupARN: '" + arnBlue + strings.Repeat("0", 2048) + "', " + serviceRef + "}", "spec.targetGroupARN", "Too long: may not be more than 2048"},
		"group name too long": {"{targetGroupName: a23456789012345678901234567890123, " + serviceRef + "}", "spec.targetGroupName", "Too long: may not be more than 32"},
		"group name hyphen":   {"{targetGroupName: blue-, " + serviceRef + "}", "spec.targetGroupName", "must be the name of a target group"},
		"group name is ARN":   {"{targetGroupName: 'a:b', " + serviceRef + "}", "spec.targetGroupName", "must be the name of a target group"},

		"no service":         {"{targetGroupName: blue}", "spec.serviceRef", "Required value"},
		"service name empty": {"{targetGroupName: blue, serviceRef: {name: '', port: 80}}", "spec.serviceRef.name", "should be at least 1 chars long"},
		"service name long":  {"{targetGroupName: blue, serviceRef: {name: " + strings.Repeat("s", 64) + ", port: 80}}", "spec.serviceRef.name", "Too long: may not be more than 63"},
		"no port":            {"{targetGroupName: blue, serviceRef: {name: web}}", "spec.serviceRef.port", "Required value"},
		"port 0":             {"{targetGroupName: blue, serviceRef: {name: web, port: 0}}", "spec.serviceRef.port", "must be the number of a Service port, 1 to 65535"},
		"port 65536":         {"{targetGroupName: blue, serviceRef: {name: web, port: 65536}}", "spec.serviceRef.port", "must be the number of a Service port, 1 to 65535"},
		"port name empty":    {"{targetGroupName: blue, serviceRef: {name: web, port: ''}}", "spec.serviceRef.port", "must be the number of a Service port"},
		"port name upper":    {"{targetGroupName: blue, serviceRef: {name: web, port: HTTP}}", "spec.serviceRef.port", "must be the number of a Service port"},
		"port name long":     {"{targetGroupName: blue, serviceRef: {name: web, port: " + strings.Repeat("p", 64) + "}}", "spec.serviceRef.port", "must be the number of a Service port"},

		"target type lambda":     {"{targetGroupName: blue, targetType: lambda, " + serviceRef + "}", "spec.targetType", `Unsupported value: "lambda": supported values: "instance", "ip"`},
		"address type":           {"{targetGroupName: blue, ipAddressType: dualstack, " + serviceRef + "}", "spec.ipAddressType", "Unsupported value"},
		"protocol":               {"{targetGroupName: blue, targetGroupProtocol: GENEVE, " + serviceRef + "}", "spec.targetGroupProtocol", "Unsupported value"},
		"VPC name":               {"{targetGroupName: blue, vpcID: main, " + serviceRef + "}", "spec.vpcID", "must be a VPC ID"},
		"VPC ID of 9":            {"{targetGroupName: blue, vpcID: vpc-0a1b2c3d4, " + serviceRef + "}", "spec.vpcID", "must be a VPC ID"},
		"selector for pods":      {"{targetGroupName: blue, targetType: ip, nodeSelector: {matchLabels: {a: b}}, " + serviceRef + "}", "spec.nodeSelector", "nodeSelector chooses among nodes and needs targetType instance"},
		"empty selector too":     {"{targetGroupName: blue, targetType: ip, nodeSelector: {}, " + serviceRef + "}", "spec.nodeSelector", "needs targetType instance"},
		"role and instances":     {"{targetGroupName: blue, targetType: instance, iamRoleArnToAssume: 'arn:aws:iam::123456789012:role/targets', " + serviceRef + "}", "spec.iamRoleArnToAssume", "a group in another account cannot register this account's instances"},
		"role name":              {"{targetGroupName: blue, iamRoleArnToAssume: targets, " + serviceRef + "}", "spec.iamRoleArnToAssume", "must be the ARN of an IAM role"},
		"QUIC and instances":     {"{targetGroupName: blue, targetType: instance, targetGroupProtocol: QUIC, " + serviceRef + "}", "spec.targetGroupProtocol", "QUIC groups cannot register instances"},
		"TCP_QUIC and instances": {"{targetGroupName: blue, targetType: instance, targetGroupProtocol: TCP_QUIC, " + serviceRef + "}", "spec.targetGroupProtocol", "QUIC groups cannot register instances"},
		"networking port":        {"{targetGroupName: blue, networking: {ingress: [{from: []}]}, " + serviceRef + "}", "spec.networking.ingress[0].ports", "Required value"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := kubectl.Create(t.Context(), binding(g, test.spec))
			g.Expect(err).To(MatchError(And(ContainSubstring(test.field+": "), ContainSubstring(test.message))))
		})
	}
}

func TestUnknownFieldIsRefused(t *testing.T) {
	g := NewWithT(t)
	err := kubectl.Create(t.Context(), binding(g, "{targetGroupName: blue, targetGroup: green, "+serviceRef+"}"))
	g.Expect(err).To(MatchError(ContainSubstring(`unknown field "spec.targetGroup"`)))
}

func TestSpecIsRequired(t *testing.T) {
	g := NewWithT(t)
	object := binding(g, "{}")
	delete(object.Object, "spec")
	err := kubectl.Create(t.Context(), object)
	g.Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
	g.Expect(err).To(MatchError(ContainSubstring("spec: Required value")))
}
