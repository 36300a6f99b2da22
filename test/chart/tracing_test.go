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

// The policy lets traces out to the port of the collector, and to no other.
func TestThePolicyLetsTracesOut(t *testing.T) {
	for endpoint, port := range map[string]int32{
		"http://otel-collector:4318":                4318,
		"http://otel-collector":                     80,
		"https://otlp.example.com/otlp/v1/traces":   443,
		"https://[fd00::1]:8443/otlp/v1/traces":     8443,
		"http://collector.example.com/at/noon:1200": 80,
	} {
		t.Run(endpoint, func(t *testing.T) {
			g := NewWithT(t)
			v := least()
			v["networkPolicy"] = values{"enabled": true}
			before := egress(t, v)
			v["tracing"] = values{"endpoint": endpoint}
			after := egress(t, v)
			g.Expect(after).To(HaveLen(len(before) + 1))
			rule := after[len(before)]
			g.Expect(rule.To).To(BeEmpty())
			g.Expect(rule.Ports).To(HaveLen(1))
			g.Expect(rule.Ports[0].Port.IntVal).To(Equal(port))
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
