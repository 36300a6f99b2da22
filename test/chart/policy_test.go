package chart

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

// calls are the distinct AWS calls that were made, as IAM sees them: an action
// and what it is about.
type calls struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (c *calls) add(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[call] = true
}

// record writes down what goes to the DynamoDB engine, and returns where to
// send it.
func (c *calls) record(t *testing.T, engine string) (endpoint string) {
	t.Helper()
	to, err := url.Parse(engine)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		resource := " on a table"
		if bytes.Contains(body, []byte(`"IndexName"`)) {
			resource = " on an index"
		}
		c.add("dynamodb:" + operation + resource)
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// all are the recorded calls and those in the journal.
func (c *calls) all(journal []elbsim.Entry) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range journal {
		// The Describe actions take no resource
		// (https://docs.aws.amazon.com/service-authorization/latest/reference/list_awselasticloadbalancingv2.html).
		resource := " on a group"
		if strings.HasPrefix(e.Action, "Describe") {
			resource = " on anything"
		}
		c.seen["elasticloadbalancing:"+e.Action+resource] = true
	}
	var all []string
	for call := range c.seen {
		all = append(all, call)
	}
	return all
}

// allowed are the calls that docs/install/iam-policy.json allows. A test of
// cmd/controller holds it to the actions of the Terraform module, and one of
// test/terraform those to the code.
func allowed(t *testing.T) []string {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile("../../docs/install/iam-policy.json")
	g.Expect(err).NotTo(HaveOccurred())
	var policy struct {
		Statement []struct {
			Effect   string
			Action   json.RawMessage // a string or a list
			Resource string
		}
	}
	g.Expect(json.Unmarshal(text, &policy)).To(Succeed())
	var all []string
	for _, s := range policy.Statement {
		g.Expect(s.Effect).To(Equal("Allow"))
		for _, action := range strings.FieldsFunc(string(s.Action), func(r rune) bool { return strings.ContainsRune(`[]", `, r) }) {
			all = append(all, action+" on "+scope(s.Resource))
		}
	}
	slices.Sort(all)
	g.Expect(slices.Compact(slices.Clone(all))).To(Equal(all), "nothing is allowed twice")
	return all
}

func scope(resource string) string {
	switch {
	case resource == "*":
		return "anything"
	case strings.Contains(resource, ":targetgroup/"):
		return "a group"
	case strings.HasSuffix(resource, "/index/by-cluster"):
		return "an index"
	default:
		return "a table"
	}
}
