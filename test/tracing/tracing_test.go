package tracing

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/test/collector"
	"target-ownership-controller/test/elbsim"
)

// A trace has the steps of the pass and the calls of each.
func TestTraceOfAPass(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.passes() // registers
	w.passes() // has nothing to do
	w.ends()

	roots := c.Roots()
	w.Expect(roots).To(HaveLen(2))
	first, second := roots[0], roots[1]
	w.Expect(c.Tree(first)).To(Equal([]string{
		"pass",
		"  bind",
		"    Elastic Load Balancing v2.DescribeTargetGroups",
		"  desired",
		"  observe",
		"    DynamoDB.Query",
		"    Elastic Load Balancing v2.DescribeTargetHealth",
		"  confirm",
		"  apply",
		"    DynamoDB.PutItem",
		"    DynamoDB.Query",
		"    Elastic Load Balancing v2.RegisterTargets",
		"  status",
	}))
	w.Expect(c.Tree(second)).To(Equal([]string{"pass", "  bind", "  desired", "  observe", "  confirm", "  apply", "  status"}))
	w.Expect(first.Trace).NotTo(Equal(second.Trace))

	attributes := map[string]any{
		"k8s.namespace.name":                    "shop",
		"target_ownership.binding.kind":         "TargetGroupBinding",
		"target_ownership.binding.name":         "web",
		"target_ownership.cluster_id":           "east",
		"target_ownership.outcome":              "Reconciled",
		"target_ownership.target_group":         w.group.ARN,
		"target_ownership.targets.wanted":       int64(2),
		"target_ownership.targets.registered":   int64(2),
		"target_ownership.targets.deregistered": int64(0),
		"target_ownership.targets.repaired":     int64(0),
		"target_ownership.targets.blocked":      int64(0),
	}
	w.Expect(first.Attributes).To(Equal(attributes))
	attributes["target_ownership.targets.registered"] = int64(0)
	w.Expect(second.Attributes).To(Equal(attributes))

	call := c.Below(c.Below(first)[0])[0]
	w.Expect(call.Kind).To(Equal(otlptrace.Span_SPAN_KIND_CLIENT))
	w.Expect(call.Attributes).To(Equal(map[string]any{
		"rpc.system": "aws-api", "rpc.service": "Elastic Load Balancing v2", "rpc.method": "DescribeTargetGroups",
		"aws.request_id": "00000000-0000-4000-8000-000000000001",
	}))
}

// Whoever reads the log finds the trace.
func TestTheLogNamesTheTrace(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.passes()
	w.ends()
	w.Expect(c.Roots()).To(HaveLen(1))
	w.Expect(logged.lines(`"msg":"targets claimed"`)).To(ConsistOf(ContainSubstring(`"trace_id":"` + c.Roots()[0].Trace + `"`)))
}

func TestTraceOfAPassThatFailed(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.sim.Inject(elbsim.Rule{Action: "DescribeTargetGroups", Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
	w.passes()
	w.ends()
	pass := c.Roots()[0]
	w.Expect(c.Tree(pass)).To(Equal([]string{"pass", "  bind", "    Elastic Load Balancing v2.DescribeTargetGroups", "  status"}))
	bind, status := c.Below(pass)[0], c.Below(pass)[1]
	call := c.Below(bind)[0]
	w.Expect(pass.Attributes).To(HaveKeyWithValue("target_ownership.outcome", "AccessDenied"))
	w.Expect(call.Attributes).To(HaveKeyWithValue("error.type", "AccessDenied"))
	for _, span := range []collector.Span{pass, bind, call} {
		w.Expect(span.Failure).To(ContainSubstring("AccessDenied"), span.Name)
	}
	w.Expect(status.Failure).To(BeEmpty())
}

// oneRead allows one call at once, and the next half a second later.
var oneRead = elb.Limits{Reads: elb.Limit{PerSecond: 2, Burst: 1}}

// What waits for our own rate limit says so.
func TestTheWaitForTheRateLimit(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.limits(oneRead)
	w.passes()
	w.ends()
	w.Expect(c.Tree(c.Below(c.Roots()[0])[2])).To(Equal([]string{
		"observe", "  DynamoDB.Query", "  rate limit", "  Elastic Load Balancing v2.DescribeTargetHealth",
	}))
}

// throttledOnce is a call that the SDK repeats.
var throttledOnce = elbsim.Rule{Action: "DescribeTargetGroups", Times: 1, Fault: elbsim.Fault{Refuse: elbsim.Throttled()}}

func TestARepeatedCallIsOneSpan(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.sim.Inject(throttledOnce)
	w.passes()
	w.ends()
	calls := c.Below(c.Below(c.Roots()[0])[0])
	w.Expect(calls).To(HaveLen(1))
	w.Expect(calls[0].Attributes).To(HaveKeyWithValue("http.request.resend_count", int64(1)))
	w.Expect(calls[0].Failure).To(BeEmpty())
}

// What a binding left that went without its finalizer.
func TestTraceOfAnOrphan(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.passes()
	w.loses()
	w.passes()
	w.ends()
	w.expectTargets()
	orphan := c.Roots()[1]
	w.Expect(c.Tree(orphan)).To(Equal([]string{
		"orphan",
		"  DynamoDB.PutItem",
		"  DynamoDB.Query",
		"  Elastic Load Balancing v2.DeregisterTargets",
		"  DynamoDB.PutItem",
		"  DynamoDB.DeleteItem",
	}))
	w.Expect(orphan.Attributes).To(And(
		HaveKeyWithValue("target_ownership.binding.name", "web"), HaveKeyWithValue("target_ownership.target_group", w.group.ARN)))
	w.Expect(orphan.Failure).To(BeEmpty())
}

// A record whose binding is there, and not in the cache yet, is looked into and
// left alone.
func TestTraceOfNoOrphan(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.passes()
	w.config.Client = fake.NewClientBuilder().WithScheme(w.kubernetes.Scheme()).Build()
	w.restarts()
	ctx, cancel := context.WithCancel(t.Context())
	swept := make(chan error, 1)
	go func() { swept <- (&binding.Orphans{Reconciler: w.reconciler, Period: time.Hour}).Start(ctx) }()
	w.Eventually(func() []collector.Span {
		w.Expect(w.provider.ForceFlush(t.Context())).To(Succeed())
		return c.Roots()
	}).WithTimeout(time.Minute).Should(HaveLen(2))
	cancel()
	w.Eventually(swept).WithTimeout(time.Minute).Should(Receive(BeNil()))
	orphan := c.Roots()[1]
	w.Expect(c.Tree(orphan)).To(Equal([]string{"orphan", "  DynamoDB.Query"}))
	w.Expect(orphan.Failure).To(BeEmpty())
	w.expectTargets("10.0.0.1:8080", "10.0.0.2:8080")
}

// The resource says who it was, and the environment variables of OpenTelemetry
// go before that.
func TestResource(t *testing.T) {
	host, err := os.Hostname()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	resource := func() map[string]any {
		c := collector.Start(t)
		w := newWorld(t, c.URL, 1)
		w.passes()
		w.ends()
		return c.Roots()[0].Resource
	}
	g := NewWithT(t)
	g.Expect(resource()).To(And(
		HaveKeyWithValue("service.name", "target-ownership-controller"),
		HaveKeyWithValue("service.version", "v1.2.3"), HaveKeyWithValue("host.name", host)))
	t.Setenv("OTEL_SERVICE_NAME", "toc")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=east-1,service.version=mine")
	g.Expect(resource()).To(And(
		HaveKeyWithValue("service.name", "toc"), HaveKeyWithValue("service.version", "mine"), HaveKeyWithValue("k8s.cluster.name", "east-1")))
}

// The headers reach the collector; neither they nor the keys of AWS are in what
// is sent, also when calls fail.
func TestNoSecretsInTraces(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20hush")
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.sim.Inject(elbsim.Rule{Action: "RegisterTargets", Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
	w.passes()
	w.ends()
	w.Expect(c.Requests()).NotTo(BeEmpty())
	for _, r := range c.Requests() {
		w.Expect(r.Path).To(Equal("/v1/traces"))
		w.Expect(r.Header.Get("Authorization")).To(Equal("Bearer hush"))
		for _, secret := range []string{"hush", secretKey, sessionToken, "AKIAIOSFODNN7EXAMPLE", "Signature="} {
			w.Expect(string(r.Body)).NotTo(ContainSubstring(secret))
		}
	}
}

// An endpoint with a path is used as it is.
func TestThePathOfTheEndpoint(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL+"/otlp/v1/traces", 1)
	w.passes()
	w.ends()
	w.Expect(c.Requests()[0].Path).To(Equal("/otlp/v1/traces"))
}

func TestRatioZeroTracesNothing(t *testing.T) {
	c := collector.Start(t)
	w := newWorld(t, c.URL, 0)
	w.passes()
	w.ends()
	w.expectTargets("10.0.0.1:8080", "10.0.0.2:8080")
	w.Expect(c.Requests()).To(BeEmpty())
	w.Expect(logged.lines("targets registered")).To(HaveLen(1))
	w.Expect(logged.lines("trace_id")).To(BeEmpty())
}

// The table in docs/operations.md has every span and every attribute.
func TestTheSpansAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.limits(oneRead)
	w.sim.Inject(throttledOnce)
	w.sim.Inject(elbsim.Rule{Action: "RegisterTargets", Fault: elbsim.Fault{Refuse: elbsim.AccessDenied()}})
	w.passes()
	w.loses()
	w.passes()
	w.ends()
	var check func(collector.Span)
	check = func(s collector.Span) {
		if s.Attributes["rpc.system"] == nil { // calls are named after what they call
			w.Expect(string(text)).To(ContainSubstring("`" + s.Name + "`"))
		}
		for key := range s.Attributes {
			w.Expect(string(text)).To(ContainSubstring("`" + key + "`"))
		}
		for _, below := range c.Below(s) {
			check(below)
		}
	}
	w.Expect(c.Roots()).To(HaveLen(2))
	for _, root := range c.Roots() {
		check(root)
	}
}

// Nobody listens: passes do what they do, and the log says once how many spans
// are lost.
func TestACollectorThatIsAway(t *testing.T) {
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	w := newWorld(t, away.URL, 1)
	w.passes()
	w.expectTargets("10.0.0.1:8080", "10.0.0.2:8080")
	w.Expect(w.binding().Status.Targets.Held).To(BeEquivalentTo(2))
	w.ends()
	w.Expect(logged.lines(`"logger":"tracing"`)).To(ConsistOf(And(
		ContainSubstring(`"level":"error"`), ContainSubstring(`"droppedSpans":13`), ContainSubstring("connection refused"))))
}

// A collector that never answers holds up neither passes nor, beyond its
// deadline, the end.
func TestACollectorThatHangs(t *testing.T) {
	done := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer hangs.Close()
	defer close(done)
	w := newWorld(t, hangs.URL, 1)
	w.passes()
	w.expectTargets("10.0.0.1:8080", "10.0.0.2:8080")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w.Expect(w.provider.Shutdown(ctx)).To(MatchError(context.DeadlineExceeded))
}

// What OpenTelemetry has to say about its variables comes without their values.
func TestHeadersThatCannotBeRead(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Bearer hush")
	c := collector.Start(t)
	w := newWorld(t, c.URL, 1)
	w.passes()
	w.ends()
	w.Expect(logged.lines(`"logger":"tracing"`)).To(ConsistOf(ContainSubstring("parse headers")))
	w.Expect(logged.lines("hush")).To(BeEmpty())
}
