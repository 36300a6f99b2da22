package bench

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// made is a call that was answered.
type made struct {
	kind  string
	end   time.Time
	bytes int64 // of both bodies, without headers
}

// recorder keeps what a controller calls.
type recorder struct {
	mu     sync.Mutex
	calls  []made
	flying int
	last   time.Time // when the last call ended
}

func (r *recorder) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

// since returns the calls, and how long there has been none.
func (r *recorder) since() (calls []made, quiet time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flying > 0 {
		return r.calls, 0
	}
	return r.calls, time.Since(r.last)
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flying++
}

func (r *recorder) end(c made) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flying--
	r.last = c.end
	r.calls = append(r.calls, c)
}

// recorded is a transport whose calls are kept, and take as long as those of
// the service do: what the stand-in takes is part of the latency. A call that
// has no kind is none of the figures.
type recorded struct {
	*recorder
	next    http.RoundTripper
	latency time.Duration
	kind    func(r *http.Request, body []byte) string
}

func (t recorded) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	var err error
	if r.Body != nil {
		if sent, err = drain(&r.Body); err != nil {
			return nil, err
		}
	}
	kind := t.kind(r, sent)
	if kind == "" {
		return t.next.RoundTrip(r)
	}
	t.begin()
	begun := time.Now()
	response, err := t.next.RoundTrip(r)
	received := int64(0)
	if err == nil {
		var body []byte
		body, err = drain(&response.Body)
		received = int64(len(body))
	}
	until(begun.Add(t.latency))
	t.end(made{kind, time.Now(), int64(len(sent)) + received})
	return response, err
}

// oversleeps is how much later than asked for a goroutine may wake up.
const oversleeps = time.Millisecond

// until returns at a point in time. To sleep alone would make a call of 5 ms one
// of 5.6 ms.
func until(end time.Time) {
	time.Sleep(time.Until(end) - oversleeps)
	for time.Now().Before(end) {
		runtime.Gosched()
	}
}

// drain reads a body, and puts it back for who reads it next.
func drain(body *io.ReadCloser) ([]byte, error) {
	content, err := io.ReadAll(*body)
	_ = (*body).Close()
	*body = io.NopCloser(bytes.NewReader(content))
	return content, err
}

// tableCall is such as Query, of the header X-Amz-Target.
func tableCall(r *http.Request, _ []byte) string {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return operation
}

// groupCall is such as RegisterTargets, of the form.
func groupCall(_ *http.Request, body []byte) string {
	form, _ := url.ParseQuery(string(body))
	return form.Get("Action")
}

// The kinds of calls that change something in Kubernetes.
const (
	kubernetesWrite = "KubernetesWrite"
	kubernetesEvent = "KubernetesEvent"
)

func kubernetesCall(r *http.Request, _ []byte) string {
	switch {
	case r.Method == http.MethodGet:
		return "" // reads are watches, and never end
	case strings.HasSuffix(r.URL.Path, "/events") || strings.Contains(r.URL.Path, "/events/"):
		return kubernetesEvent
	default:
		return kubernetesWrite
	}
}

// records has the calls of Kubernetes clients kept.
func (r *recorder) records(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return recorded{recorder: r, next: next, kind: kubernetesCall}
	})
	return config
}
