package metrics_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go/middleware"
	. "github.com/onsi/gomega"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"target-ownership-controller/controller/metrics"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/ownership/history"
)

// Each call is observed once, by what became of it.
func TestTimeCalls(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	refusal := `<ErrorResponse><Error><Code>TargetGroupNotFound</Code></Error></ErrorResponse>`
	for outcome, c := range map[string]struct {
		ctx    context.Context
		status int
		body   string
	}{
		"ok":                  {context.Background(), 200, `<DescribeTargetHealthResponse><DescribeTargetHealthResult/></DescribeTargetHealthResponse>`},
		"TargetGroupNotFound": {context.Background(), 400, refusal},
		"canceled":            {canceled, 0, ""},
		"timeout":             {late, 0, ""},
		"failed":              {context.Background(), 0, ""},
	} {
		t.Run(outcome, func(t *testing.T) {
			g := NewWithT(t)
			before := observed(g, outcome)
			_, err := client(t, c.status, c.body).DescribeTargetHealth(c.ctx, &elasticloadbalancingv2.DescribeTargetHealthInput{TargetGroupArn: aws.String("web")})
			g.Expect(err == nil).To(Equal(outcome == "ok"), "%v", err)
			g.Expect(observed(g, outcome) - before).To(BeEquivalentTo(1))
		})
	}
}

// client gets this answer to each call, or none for the status 0.
func client(t *testing.T, status int, body string) *elasticloadbalancingv2.Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return elasticloadbalancingv2.New(elasticloadbalancingv2.Options{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		APIOptions:  []func(*middleware.Stack) error{metrics.TimeCalls},
	})
}

// Calls for the history are told apart, so that nobody is paged for them, and
// those for the registry, which tell the trouble of one group from that of all.
func TestPurposesOfCalls(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#AccessDeniedException"}`)
	}))
	defer server.Close()
	table := dynamo.New(dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: &server.URL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		APIOptions:  []func(*middleware.Stack) error{metrics.TimeCalls},
	}), "table", dynamo.Options{})
	counts := func() []uint64 {
		of := func(operation, purpose string) uint64 {
			return callsOf(g, "DynamoDB", operation, purpose, "AccessDeniedException")
		}
		return []uint64{of("PutItem", "history"), of("Query", "history"), of("PutItem", "ownership"), of("Query", "ownership"),
			of("GetItem", "registry"), of("PutItem", "registry"), of("Query", "registry")}
	}
	before := counts()
	g.Expect(table.Record(t.Context(), history.Entry{Group: "web"})).To(MatchError(ownership.ErrForbidden))
	for _, err := range table.History(t.Context(), history.Query{Group: "web"}) {
		g.Expect(err).To(MatchError(ownership.ErrForbidden))
	}
	_, err := table.Records(t.Context(), "web")
	g.Expect(err).To(MatchError(ownership.ErrForbidden))
	_, err = table.Cluster(t.Context(), "east")
	g.Expect(err).To(MatchError(ownership.ErrForbidden))
	_, err = table.Clusters(t.Context())
	g.Expect(err).To(MatchError(ownership.ErrForbidden))
	east := ownership.Cluster{ID: "east", Fingerprint: "uid", State: ownership.ClusterActive, Revision: ownership.Revision{Version: 1, WriteID: "id"}}
	g.Expect(table.PutCluster(t.Context(), east, ownership.Revision{})).To(MatchError(ownership.ErrForbidden))
	after := counts()
	for i, n := range before {
		after[i] -= n
	}
	g.Expect(after).To(Equal([]uint64{1, 1, 0, 1, 1, 1, 1}))
}

// observed is how many listings of targets had the outcome.
func observed(g *WithT, outcome string) uint64 {
	return callsOf(g, "Elastic Load Balancing v2", "DescribeTargetHealth", "ownership", outcome)
}

func callsOf(g *WithT, service, operation, purpose, outcome string) uint64 {
	families, err := registry.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != "target_ownership_aws_call_duration_seconds" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if maps.Equal(labels, map[string]string{
				"service": service, "operation": operation, "purpose": purpose, "outcome": outcome,
			}) {
				return m.GetHistogram().GetSampleCount()
			}
		}
	}
	return 0
}
