package targetctl_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// between is a proxy before the table's engine that makes AWS of it: it can
// deny, shift the clock, and describe the table in other words.
type between struct {
	deny      map[string]bool      // operations
	denyAbout string               // requests that name this
	ahead     time.Duration        // of the clock of the table
	describe  func(map[string]any) // changes the description of the table
}

// stand puts the proxy before the engine of the bench, and closes it with the
// test.
func (p *between) stand(t *testing.T, b *bench) {
	engine, err := url.Parse(b.table.Endpoint)
	b.Expect(err).NotTo(HaveOccurred())
	proxy := httputil.NewSingleHostReverseProxy(engine)
	proxy.ModifyResponse = p.answer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // of a local client, which sends it all
		r.Body = io.NopCloser(bytes.NewReader(body))
		if operation := operationOf(r); p.deny[operation] && bytes.Contains(body, []byte(p.denyAbout)) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"User: arn:aws:sts::111122223333:assumed-role/ops is not authorized to perform: dynamodb:`+operation+`"}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.endpoint = server.URL
}

func operationOf(r *http.Request) string {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return operation
}

func (p *between) answer(r *http.Response) error {
	if p.ahead != 0 {
		r.Header.Set("Date", time.Now().Add(p.ahead).UTC().Format(http.TimeFormat))
	}
	if p.describe == nil || operationOf(r.Request) != "DescribeTable" {
		return nil
	}
	var body struct{ Table map[string]any }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return err
	}
	p.describe(body.Table)
	changed, err := json.Marshal(body)
	r.Body = io.NopCloser(bytes.NewReader(changed))
	r.ContentLength = int64(len(changed))
	r.Header.Del("Content-Length")
	r.Header.Del("X-Amz-Crc32")
	return err
}
