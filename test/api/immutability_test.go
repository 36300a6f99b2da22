package api_test

import (
	"testing"

	. "github.com/onsi/gomega"
)

// From and to are the fields of a spec beside its serviceRef. An empty message
// means that the change is accepted.
func TestUpdates(t *testing.T) {
	const (
		groupFixed   = "the target group cannot be changed; create another binding for the other group"
		typeFixed    = "targetType cannot be changed or removed once set"
		addressFixed = "ipAddressType cannot be changed or removed once set"
		vpcFixed     = "vpcID cannot be changed or removed once set"
	)
	tests := map[string]struct{ from, to, message string }{
		"ARN to another":           {"targetGroupARN: " + arnBlue, "targetGroupARN: " + arnGreen, groupFixed},
		"name to another":          {"targetGroupName: blue", "targetGroupName: green", groupFixed},
		"ARN to its name":          {"targetGroupARN: " + arnBlue, "targetGroupName: blue", ""},
		"ARN to another name":      {"targetGroupARN: " + arnBlue, "targetGroupName: green", groupFixed},
		"name to its ARN":          {"targetGroupName: blue", "targetGroupARN: " + arnBlue, ""},
		"name to another ARN":      {"targetGroupName: blue", "targetGroupARN: " + arnGreen, groupFixed},
		"ARN added to name":        {"targetGroupName: blue", "targetGroupName: blue, targetGroupARN: " + arnBlue, ""},
		"other ARN added to name":  {"targetGroupName: blue", "targetGroupName: blue, targetGroupARN: " + arnGreen, groupFixed},
		"name added to ARN":        {"targetGroupARN: " + arnBlue, "targetGroupName: blue, targetGroupARN: " + arnBlue, ""},
		"name removed beside ARN":  {"targetGroupName: blue, targetGroupARN: " + arnBlue, "targetGroupARN: " + arnBlue, ""},
		"ARN removed beside name":  {"targetGroupName: blue, targetGroupARN: " + arnBlue, "targetGroupName: blue", ""},
		"both to another":          {"targetGroupName: blue, targetGroupARN: " + arnBlue, "targetGroupName: green, targetGroupARN: " + arnGreen, groupFixed},
		"name changed beside ARN":  {"targetGroupName: blue, targetGroupARN: " + arnBlue, "targetGroupName: green, targetGroupARN: " + arnBlue, "a group with another name"},
		"both removed":             {"targetGroupARN: " + arnBlue, "multiClusterTargetGroup: true", "set targetGroupARN or targetGroupName"},
		"ARN emptied beside name":  {"targetGroupName: blue, targetGroupARN: " + arnBlue, `targetGroupName: blue, targetGroupARN: ""`, ""},
		"same name, other account": {"targetGroupARN: " + arnBlue, "targetGroupARN: 'arn:aws:elasticloadbalancing:eu-west-1:210987654321:targetgroup/blue/73e2d6bc24d8a067'", groupFixed},

		"type set":             {"targetGroupName: blue", "targetGroupName: blue, targetType: ip", ""},
		"type changed":         {"targetGroupName: blue, targetType: ip", "targetGroupName: blue, targetType: instance", typeFixed},
		"type removed":         {"targetGroupName: blue, targetType: ip", "targetGroupName: blue", typeFixed},
		"address type set":     {"targetGroupName: blue", "targetGroupName: blue, ipAddressType: ipv6", ""},
		"address type changed": {"targetGroupName: blue, ipAddressType: ipv4", "targetGroupName: blue, ipAddressType: ipv6", addressFixed},
		"address type removed": {"targetGroupName: blue, ipAddressType: ipv4", "targetGroupName: blue", addressFixed},
		"VPC set":              {"targetGroupName: blue", "targetGroupName: blue, vpcID: vpc-0a1b2c3d", ""},
		"VPC set from empty":   {`targetGroupName: blue, vpcID: ""`, "targetGroupName: blue, vpcID: vpc-0a1b2c3d", ""},
		"VPC changed":          {"targetGroupName: blue, vpcID: vpc-0a1b2c3d", "targetGroupName: blue, vpcID: vpc-00000000", vpcFixed},
		"VPC removed":          {"targetGroupName: blue, vpcID: vpc-0a1b2c3d", "targetGroupName: blue", vpcFixed},
		"VPC emptied":          {"targetGroupName: blue, vpcID: vpc-0a1b2c3d", `targetGroupName: blue, vpcID: ""`, vpcFixed},

		"protocol changed":       {"targetGroupName: blue, targetGroupProtocol: TCP", "targetGroupName: blue, targetGroupProtocol: UDP", ""},
		"shared switched off":    {"targetGroupName: blue, multiClusterTargetGroup: true", "targetGroupName: blue", ""},
		"selector added, ip":     {"targetGroupName: blue, targetType: ip", "targetGroupName: blue, targetType: ip, nodeSelector: {}", "needs targetType instance"},
		"type ip beside nodes":   {"targetGroupName: blue, nodeSelector: {}", "targetGroupName: blue, nodeSelector: {}, targetType: ip", "needs targetType instance"},
		"role added, instances":  {"targetGroupName: blue, targetType: instance", "targetGroupName: blue, targetType: instance, iamRoleArnToAssume: 'arn:aws:iam::123456789012:role/a'", "use targetType ip"},
		"selector changed":       {"targetGroupName: blue, nodeSelector: {matchLabels: {a: b}}", "targetGroupName: blue, nodeSelector: {matchLabels: {a: c}}", ""},
		"role changed":           {"targetGroupName: blue, iamRoleArnToAssume: 'arn:aws:iam::123456789012:role/a'", "targetGroupName: blue, iamRoleArnToAssume: 'arn:aws:iam::123456789012:role/b'", ""},
		"networking taken out":   {"targetGroupName: blue, networking: {}", "targetGroupName: blue", ""},
		"external ID taken away": {"targetGroupName: blue, assumeRoleExternalId: x", "targetGroupName: blue", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			object := binding(g, "{"+test.from+", "+serviceRef+"}")
			g.Expect(kubectl.Create(t.Context(), object)).To(Succeed())
			setSpec(g, object, "{"+test.to+", "+serviceRef+"}")
			err := kubectl.Update(t.Context(), object)
			if test.message == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(test.message)))
		})
	}
}

func TestServiceOfABindingCanBeChanged(t *testing.T) {
	g := NewWithT(t)
	object := binding(g, "{targetGroupName: blue, "+serviceRef+"}")
	g.Expect(kubectl.Create(t.Context(), object)).To(Succeed())
	setSpec(g, object, "{targetGroupName: blue, serviceRef: {name: other, port: http}}")
	g.Expect(kubectl.Update(t.Context(), object)).To(Succeed())
}
