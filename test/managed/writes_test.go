package managed

import (
	"net/http"
	"strings"
	"sync"
)

// writes counts what a controller writes, by resource.
type writes struct {
	mu  sync.Mutex
	all map[string]int
}

func (c *writes) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			// /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/...
			if words := strings.Split(r.URL.Path, "/"); len(words) > 6 {
				c.mu.Lock()
				c.all[words[6]]++
				c.mu.Unlock()
			}
		}
		return next.RoundTrip(r)
	})
}

// of is the number of writes to a resource so far.
func (c *writes) of(resource string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[resource]
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
