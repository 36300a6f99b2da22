// Package collector is an OpenTelemetry collector for tests: it takes traces by
// OTLP over HTTP, and keeps them.
package collector

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector listens until its test ends.
type Collector struct {
	URL string

	mu       sync.Mutex
	requests []Request
	spans    []Span
}

// Request is what came in.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Span is a part of a trace.
type Span struct {
	Name       string
	Trace      string // in hexadecimal digits, as logs have it
	Kind       otlptrace.Span_SpanKind
	Attributes map[string]any // strings and int64
	Resource   map[string]any
	Failure    string // of a span whose status is an error

	id, parent string
	began      uint64
}

// Start returns a collector without spans.
func Start(tb testing.TB) *Collector {
	c := &Collector{}
	server := httptest.NewServer(c)
	tb.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var message collectortrace.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &message)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, Request{r.URL.Path, r.Header.Clone(), body})
	for _, of := range message.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, read(span, of.Resource.GetAttributes()))
			}
		}
	}
}

func read(span *otlptrace.Span, resource []*common.KeyValue) Span {
	s := Span{
		Name: span.Name, Kind: span.Kind, Trace: hex.EncodeToString(span.TraceId),
		Attributes: values(span.Attributes), Resource: values(resource),
		id: string(span.SpanId), parent: string(span.ParentSpanId), began: span.StartTimeUnixNano,
	}
	if span.Status.GetCode() == otlptrace.Status_STATUS_CODE_ERROR {
		s.Failure = span.Status.Message
	}
	return s
}

func values(list []*common.KeyValue) map[string]any {
	all := map[string]any{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			all[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			all[kv.Key] = v.IntValue
		default:
			all[kv.Key] = v
		}
	}
	return all
}

// Requests are all so far.
func (c *Collector) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// Roots are the spans so far that stand below none, in the order in which they
// began.
func (c *Collector) Roots() []Span { return c.below("") }

// Below are the spans right below one.
func (c *Collector) Below(s Span) []Span { return c.below(s.id) }

func (c *Collector) below(id string) []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Span
	for _, s := range c.spans {
		if s.parent == id {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b Span) int { return int(int64(a.began) - int64(b.began)) })
	return found
}

// Tree has a line for a span and each below it, with two spaces for each level.
func (c *Collector) Tree(s Span) []string { return c.tree(s, 0) }

func (c *Collector) tree(s Span, level int) []string {
	lines := []string{strings.Repeat("  ", level) + s.Name}
	for _, below := range c.Below(s) {
		lines = append(lines, c.tree(below, level+1)...)
	}
	return lines
}
