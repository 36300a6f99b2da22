package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"target-ownership-controller/cmd/internal/awsconfig"
)

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
		"other endpoint": {settings{Site: awsconfig.Site{ELBv2Endpoint: "http://127.0.0.1:1"}}, 200, "", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g, sts, lines := NewWithT(t), newFakeAWS(t, c.status, identity), &bytes.Buffer{}
			ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(lines)))
			if c.settings.ELBv2Endpoint != "" {
				sts.BaseEndpoint = nil
			}
			g.Expect(account(ctx, c.settings, sts.Config)).To(Equal(c.account))
			g.Expect(sts.calls).To(Equal(c.calls))
			g.Expect(bytes.Count(lines.Bytes(), []byte("\n"))).To(Equal(c.lines))
		})
	}
}

// The first call tells a region that does not exist: AWS has no host for it.
func TestRegionMisspelt(t *testing.T) {
	g, sts, lines := NewWithT(t), newFakeAWS(t, 200, ""), &bytes.Buffer{}
	sts.BaseEndpoint = nil
	sts.Region = "eu-wst-1"
	sts.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: noHost}}
	ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(lines)))
	g.Expect(account(ctx, settings{Site: awsconfig.Site{Region: "eu-wst-1"}}, sts.Config)).To(BeEmpty())
	g.Expect(lines.String()).To(ContainSubstring("there is no host sts.eu-wst-1.amazonaws.com: --region eu-wst-1 may be misspelt"))
}

func noHost(_ context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func TestNoCredentialsAtStart(t *testing.T) {
	g, sts, lines := NewWithT(t), newFakeAWS(t, 200, ""), &bytes.Buffer{}
	sts.Credentials = awsconfig.Chain{CredentialsProvider: noInstance(t)}
	ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(lines)))
	g.Expect(account(ctx, settings{Site: awsconfig.Site{Region: "eu-west-1"}}, sts.Config)).To(BeEmpty())
	g.Expect(sts.calls).To(BeZero())
	g.Expect(bytes.Count(lines.Bytes(), []byte("\n"))).To(Equal(1))
	g.Expect(lines.String()).To(And(ContainSubstring("no AWS credentials found"), ContainSubstring("access disabled to EC2 IMDS")))
}
