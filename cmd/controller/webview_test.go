package main

import (
	"io"
	"net"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller/kind"
)

// The page is beside the metrics, to those who ask for it by an address, and
// nowhere without the flag.
func TestWebView(t *testing.T) {
	for name, c := range map[string]struct {
		webView bool
		host    string
		path    string
		status  int
		says    string
	}{
		"page":             {true, "", "/web/", http.StatusOK, "<title>Target ownership</title>"},
		"without a slash":  {true, "", "/web", http.StatusOK, "<title>Target ownership</title>"},
		"what it asks for": {true, "", "/web/site.json", http.StatusOK, `"table":"owners","region":"eu-west-1"`},
		"another site":     {true, "evil.example", "/web/", http.StatusMisdirectedRequest, "kubectl port-forward"},
		"metrics":          {true, "evil.example", "/metrics", http.StatusOK, "go_goroutines"},
		"off":              {false, "", "/web/", http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := settings{Site: awsconfig.Site{Table: "owners", Region: "eu-west-1"}, metricsAddress: free(t), probeAddress: "0", webView: c.webView}
			_, config := newFakeAPI(t)
			mgr, err := newManager(s, config, kind.All, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(addWebView(t.Context(), mgr, s, newFakeAWS(t, 400, "{}").Config)).To(Succeed())
			go func() { _ = runManager(t.Context(), mgr, s) }()

			var response *http.Response
			g.Eventually(func() error {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.metricsAddress+c.path, nil)
				g.Expect(err).NotTo(HaveOccurred())
				request.Host = c.host
				response, err = http.DefaultClient.Do(request)
				return err
			}, "10s").Should(Succeed())
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(response.StatusCode).To(Equal(c.status))
			g.Expect(string(body)).To(ContainSubstring(c.says))
		})
	}
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	return l.Addr().String()
}
