package binding

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// wire is the network of one controller process: each request to Kubernetes,
// DynamoDB and ELB is written down on it, and can be disturbed.
type wire struct {
	mu      sync.Mutex
	calls   []string
	disturb func(call string) fault // asked about each request; nil: no fault
}

// fault decides on a request instead of the network.
type fault func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error)

// disturbs sets the disturbance, until calm.
func (w *wire) disturbs(decide func(call string) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disturb = decide
}

func (w *wire) calm() { w.disturbs(nil) }

// fails disturbs every call of these names in the same way.
func (w *wire) fails(f fault, calls ...string) {
	w.disturbs(func(call string) fault {
		if slices.Contains(calls, call) {
			return f
		}
		return nil
	})
}

// forget starts a new count.
func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = nil
}

// count returns how often each call was made, but for reads that a cache
// answers in production.
func (w *wire) count() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := map[string]int{}
	for _, call := range w.calls {
		if !isCached(call) {
			counts[call]++
		}
	}
	return counts
}

func (w *wire) carry(call string, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	w.mu.Lock()
	w.calls = append(w.calls, call)
	disturb := w.disturb
	w.mu.Unlock()
	send := func() (*http.Response, error) { return next.RoundTrip(r) }
	if disturb != nil {
		if f := disturb(call); f != nil {
			return f(r, send)
		}
	}
	return send()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// kubernetes is for the transport of a Kubernetes client. Its calls are named
// "PATCH targetgroupbindings/status", "LIST endpointslices"; reads with the
// prefix.
func (w *wire) kubernetes(reads string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			call := kubernetesCall(r)
			if r.Method == http.MethodGet {
				call = reads + " " + call
			}
			return w.carry(call, r, next)
		})
	}
}

func kubernetesCall(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	prefix := map[string]int{"api": 2, "apis": 3}[parts[0]]
	if len(parts) <= prefix {
		return "discovery"
	}
	parts = parts[prefix:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	method, resource := r.Method, parts[0]
	if method == http.MethodGet && len(parts) == 1 {
		method = "LIST"
	}
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return method + " " + resource
}

// aws is the HTTP client of an SDK client. Its calls have the names of the
// operations; a read of DynamoDB that is not consistent says so.
func (w *wire) aws() *http.Client {
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return w.carry(awsCall(r.Header.Get("X-Amz-Target"), string(body)), r, http.DefaultTransport)
	})}
}

func awsCall(target, body string) string {
	_, operation, isDynamoDB := strings.Cut(target, ".")
	if !isDynamoDB {
		form, err := url.ParseQuery(body)
		if err != nil {
			return err.Error()
		}
		return form.Get("Action")
	}
	reads := operation == "Query" || operation == "GetItem"
	if reads && !strings.Contains(body, `"ConsistentRead":true`) {
		operation += ", eventually consistent"
	}
	return operation
}

func isCached(call string) bool { return strings.HasPrefix(call, "cached ") }
