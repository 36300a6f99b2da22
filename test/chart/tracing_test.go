package chart

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// The flags come together: without a collector nothing is said about traces,
// and by default all passes are traced.
func TestTracesNeedACollector(t *testing.T) {
	g := NewWithT(t)
	g.Expect(args(t, least())).NotTo(Or(HaveKey("trace-endpoint"), HaveKey("trace-ratio")))
	v := least()
	v["tracing"] = values{"endpoint": "http://otel-collector:4318"}
	g.Expect(args(t, v)).To(And(HaveKeyWithValue("trace-endpoint", "http://otel-collector:4318"), HaveKeyWithValue("trace-ratio", "1")))
}

// The policy lets out what the endpoints need: the port that pods listen on, to
// those that are named, and to nobody else. What is on a port of AWS needs no
// rule of its own.
func TestThePolicyLetsOutWhatTheEndpointsNeed(t *testing.T) {
	pods := []any{values{"podSelector": values{"matchLabels": values{"app": "collector"}}}}
	for name, c := range map[string]struct {
		set  func(v, policy values)
		port int32 // 0: no further rule
	}{
		"a collector behind a Service": {func(v, policy values) {
			v["tracing"], policy["tracing"] = values{"endpoint": "http://otel-collector"}, values{"port": 4318, "to": pods}
		}, 4318},
		"a collector on another port, without a path": {func(v, policy values) {
			v["tracing"], policy["tracing"] = values{"endpoint": "https://[fd00::1]:8443"}, values{"port": 8443, "to": pods}
		}, 8443},
		"a collector on the internet": {func(v, _ values) { v["tracing"] = values{"endpoint": "https://otlp.example.com/at/noon:1200"} }, 0},
		"a table of one's own": {func(v, policy values) {
			v["dynamodbEndpoint"], policy["dynamodb"] = "http://dynamodb:80", values{"port": 8000, "to": pods}
		}, 8000},
		"a load balancer API of one's own": {func(v, policy values) {
			v["elbv2Endpoint"], policy["elbv2"] = "http://elb:80", values{"port": 8001, "to": pods}
		}, 8001},
		"an endpoint of the VPC": {func(v, _ values) {
			v["elbv2Endpoint"] = "https://vpce-1.elasticloadbalancing.eu-west-1.vpce.amazonaws.com"
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v, policy := least(), values{"enabled": true}
			v["networkPolicy"] = policy
			before := egress(t, v)
			c.set(v, policy)
			after := egress(t, v)
			if c.port == 0 {
				g.Expect(after).To(Equal(before))
				return
			}
			g.Expect(after).To(HaveLen(len(before) + 1))
			rule := after[len(before)]
			g.Expect(rule.To).To(HaveLen(1))
			g.Expect(rule.To[0].PodSelector.MatchLabels).To(Equal(map[string]string{"app": "collector"}))
			g.Expect(rule.Ports).To(HaveLen(1))
			g.Expect(rule.Ports[0].Port.IntVal).To(Equal(c.port))
		})
	}
}

func egress(t *testing.T, v values) []networkingv1.NetworkPolicyEgressRule {
	t.Helper()
	for _, document := range strings.Split(mustRender(t, v).Manifest, "---\n") {
		var p networkingv1.NetworkPolicy
		if yaml.Unmarshal([]byte(document), &p) == nil && p.Kind == "NetworkPolicy" {
			return p.Spec.Egress
		}
	}
	t.Fatal("there is no NetworkPolicy")
	return nil
}
