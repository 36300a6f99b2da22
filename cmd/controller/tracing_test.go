package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
	"go.opentelemetry.io/otel/trace"
)

func TestTraceFlagsThatCannotBeUsed(t *testing.T) {
	for flag, want := range map[string]string{
		"--trace-endpoint=otel-collector:4318":            `--trace-endpoint: "otel-collector:4318" is not the URL of a collector such as http://otel-collector:4318`,
		"--trace-endpoint=grpc://otel-collector:4317":     `--trace-endpoint: "grpc://otel-collector:4317" is not the URL of a collector such as http://otel-collector:4318`,
		"--trace-endpoint=http://:4318":                   `--trace-endpoint: "http://:4318" is not the URL of a collector such as http://otel-collector:4318`,
		"--trace-endpoint=http://otel-collector/?key=abc": `--trace-endpoint: "http://otel-collector/?key=abc" is not the URL of a collector such as http://otel-collector:4318`,
		"--trace-endpoint=http://me:hunter2@collector":    `--trace-endpoint: the URL has a user or a password; give credentials in the environment variable OTEL_EXPORTER_OTLP_HEADERS`,
		"--trace-ratio=1.1":                               `--trace-ratio: 1.1 is not between 0 and 1`,
		"--trace-ratio=-0.1":                              `--trace-ratio: -0.1 is not between 0 and 1`,
		"--trace-ratio=NaN":                               `--trace-ratio: NaN is not between 0 and 1`,
	} {
		t.Run(flag, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(refusal(g, "--cluster-id=east", flag)).To(Equal("controller: these flags cannot be used:\n" + want + "\n"))
		})
	}
	g := NewWithT(t)
	g.Expect(refusal(g, "--trace-ratio=half")).To(Equal("controller: --trace-ratio: \"half\" is not a number\n"))
}

func TestTraceFlagsThatCanBeUsed(t *testing.T) {
	for _, flag := range []string{
		"--trace-endpoint=", "--trace-endpoint=http://[::1]:4318", "--trace-endpoint=https://otlp.example.com/otlp/v1/traces",
		"--trace-ratio=0", "--trace-ratio=0.05", "--trace-ratio=1",
	} {
		g := NewWithT(t)
		var s settings
		g.Expect(s.flags().Parse([]string{"--cluster-id=east", flag})).To(Succeed())
		g.Expect(s.validate()).To(Succeed(), flag)
	}
}

// Nothing is set up to be traced unless a flag says where to, whatever the
// environment says.
func TestWithoutAnEndpointThereAreNoTraces(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel-collector:4318")
	traces, err := (&traceSettings{ratio: 1}).start(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(traces.tracer()).To(BeNil())
	flush(nil, traces)
}

// The end sends what is left.
func TestTheEndSendsTraces(t *testing.T) {
	g := NewWithT(t)
	sent := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent <- r.URL.Path }))
	defer collector.Close()
	traces, err := (&traceSettings{endpoint: collector.URL, ratio: 1}).start(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	_, span := traces.tracer().Start(context.Background(), "pass", trace.WithNewRoot())
	span.End()
	flush(nil, traces)
	g.Expect(sent).To(Receive(Equal("/v1/traces")))
}
