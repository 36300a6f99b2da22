package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"target-ownership-controller/controller/elb"
)

// fakeSTS answers each call with the status and body, and counts them.
type fakeSTS struct {
	aws.Config
	status int
	body   string
	calls  int
}

func newFakeSTS(t *testing.T, status int, body string) *fakeSTS {
	f := &fakeSTS{status: status, body: body}
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

func TestAccount(t *testing.T) {
	const identity = `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`
	for name, c := range map[string]struct {
		settings settings
		status   int
		account  string
		calls    int
		lines    int
	}{
		"answer":         {settings{}, 200, "123456789012", 1, 0},
		"refusal":        {settings{}, 403, "", 1, 1},
		"other endpoint": {settings{elbv2Endpoint: "http://127.0.0.1:1"}, 200, "", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g, sts, lines := NewWithT(t), newFakeSTS(t, c.status, identity), &bytes.Buffer{}
			ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(lines)))
			g.Expect(account(ctx, c.settings, sts.Config)).To(Equal(c.account))
			g.Expect(sts.calls).To(Equal(c.calls))
			g.Expect(bytes.Count(lines.Bytes(), []byte("\n"))).To(Equal(c.lines))
		})
	}
}

// A group of another account or region is refused without a call.
func TestGroupsElsewhere(t *testing.T) {
	g, aws := NewWithT(t), newFakeSTS(t, 403, "")
	groups := options(settings{table: "table", region: "eu-west-1"}, aws.Config, "123456789012").Groups
	for _, arn := range []string{
		"arn:aws:elasticloadbalancing:eu-west-1:210987654321:targetgroup/web/0123456789abcdef",
		"arn:aws:elasticloadbalancing:us-east-1:123456789012:targetgroup/web/0123456789abcdef",
	} {
		_, err := groups.Group(context.Background(), elb.GroupRef{ARN: arn})
		g.Expect(err).To(MatchError(elb.ErrGroupElsewhere))
	}
	g.Expect(aws.calls).To(BeZero())
}
