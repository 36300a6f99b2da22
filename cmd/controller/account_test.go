package main

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
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
		"other endpoint": {settings{elbv2Endpoint: "http://127.0.0.1:1"}, 200, "", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g, sts, lines := NewWithT(t), newFakeAWS(t, c.status, identity), &bytes.Buffer{}
			ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(lines)))
			g.Expect(account(ctx, c.settings, sts.Config)).To(Equal(c.account))
			g.Expect(sts.calls).To(Equal(c.calls))
			g.Expect(bytes.Count(lines.Bytes(), []byte("\n"))).To(Equal(c.lines))
		})
	}
}
