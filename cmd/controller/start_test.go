package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"

	"target-ownership-controller/cmd/internal/awsconfig"
)

// fakeAWS answers each call with the status and body, and counts them.
type fakeAWS struct {
	aws.Config
	status int
	body   string
	calls  int
}

func newFakeAWS(t *testing.T, status int, body string) *fakeAWS {
	f := &fakeAWS{status: status, body: body}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.calls++
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, f.body)
	}))
	t.Cleanup(server.Close)
	f.Config = aws.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}
	return f
}

// A group of another account or region is refused without a call.
func TestGroupsElsewhere(t *testing.T) {
	g, api := NewWithT(t), newFakeAWS(t, 403, "")
	groups := options(settings{Site: awsconfig.Site{Table: "table", Region: "eu-west-1"}}, api.Config, "123456789012").Groups
	for _, arn := range []string{
		"arn:aws:elasticloadbalancing:eu-west-1:210987654321:targetgroup/web/0123456789abcdef",
		"arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/0123456789abcdef",
	} {
		_, err := groups.Group(context.Background(), elb.GroupRef{ARN: arn})
		g.Expect(err).To(MatchError(elb.ErrGroupElsewhere))
	}
	g.Expect(api.calls).To(BeZero())
}

func TestELBRates(t *testing.T) {
	g, api := NewWithT(t), newFakeAWS(t, 403, `<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>`)
	once := elb.Limits{Reads: elb.Limit{PerSecond: 0.01, Burst: 1}, Mutations: elb.Limit{PerSecond: 1, Burst: 1}}
	groups := options(settings{Site: awsconfig.Site{Table: "table", Region: "eu-west-1"}, elbLimits: once}, api.Config, "").Groups
	_, err := groups.Group(context.Background(), elb.GroupRef{Name: "web"})
	g.Expect(err).To(MatchError(ownership.ErrGroupForbidden))
	_, err = groups.Group(context.Background(), elb.GroupRef{Name: "web"})
	g.Expect(err).To(MatchError(ownership.ErrGroupThrottled))
	g.Expect(api.calls).To(Equal(1))
}

// The flag comes before what the AWS configuration says, such as
// AWS_ENDPOINT_URL.
func TestELBEndpoint(t *testing.T) {
	g, configured, given := NewWithT(t), newFakeAWS(t, 500, ""), newFakeAWS(t, 500, "")
	for _, endpoint := range []string{"", *given.BaseEndpoint} {
		groups := options(settings{Site: awsconfig.Site{Table: "table", Region: "eu-west-1", ELBv2Endpoint: endpoint}}, configured.Config, "").Groups
		_, err := groups.Group(context.Background(), elb.GroupRef{Name: "web"})
		g.Expect(err).To(HaveOccurred())
	}
	g.Expect([]bool{configured.calls > 0, given.calls > 0}).To(Equal([]bool{true, true}))
}

func TestRetentionZeroIsNoHistory(t *testing.T) {
	g, api := NewWithT(t), newFakeAWS(t, 500, "")
	site := awsconfig.Site{Table: "table", Region: "eu-west-1"}
	g.Expect(options(settings{Site: site}, api.Config, "").Trail).To(BeNil())
	g.Expect(options(settings{Site: site, history: time.Hour}, api.Config, "").Trail).NotTo(BeNil())
}
