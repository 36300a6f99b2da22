package soak

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// far is a service behind a link.
type far struct {
	*link
	answered atomic.Int64
}

func newFar(t *testing.T) *far {
	t.Helper()
	f := &far{}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f.answered.Add(1) }))
	t.Cleanup(server.Close)
	var err error
	f.link, err = newLink("far", server.URL)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(f.cut)
	return f
}

func (f *far) call(timeout time.Duration) error {
	client := &http.Client{Timeout: timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(f.url())
	if err != nil {
		return err
	}
	return response.Body.Close()
}

const soon = 10 * time.Second

func TestALinkIsCutOffAndMended(t *testing.T) {
	g := NewWithT(t)
	f := newFar(t)
	g.Expect(f.call(soon)).To(Succeed())
	address := f.url()
	f.cut()
	g.Expect(f.call(soon)).To(MatchError(ContainSubstring("refused")))
	g.Expect(f.become(t.Context())).To(Succeed())
	g.Expect(f.url()).To(Equal(address))
	g.Expect(f.call(soon)).To(Succeed())
	g.Expect(f.answered.Load()).To(BeEquivalentTo(2))
}

func TestALinkSwallowsAllInABlackHole(t *testing.T) {
	g := NewWithT(t)
	f := newFar(t)
	g.Expect(f.become(t.Context(), toxicsFor(blackHole, 0)...)).To(Succeed())
	g.Expect(f.call(200 * time.Millisecond)).To(MatchError(context.DeadlineExceeded))
	g.Expect(f.answered.Load()).To(BeZero())
	g.Expect(f.become(t.Context())).To(Succeed())
	g.Expect(f.call(soon)).To(Succeed())
}

func TestResetsLoseTheCallOrItsAnswer(t *testing.T) {
	for _, c := range []struct {
		lost    string
		size    float64
		arrives int64
	}{{"call", 0.1, 0}, {"answer", 0.9, 1}} {
		t.Run(c.lost, func(t *testing.T) {
			g := NewWithT(t)
			f := newFar(t)
			g.Expect(f.become(t.Context(), toxicsFor(reset, c.size)...)).To(Succeed())
			g.Expect(f.call(soon)).NotTo(Succeed())
			g.Expect(f.answered.Load()).To(Equal(c.arrives))
		})
	}
}

func TestASlowLinkTakesItsTime(t *testing.T) {
	g := NewWithT(t)
	f := newFar(t)
	g.Expect(f.become(t.Context(), toxicsFor(slow, 0)...)).To(Succeed())
	begun := time.Now()
	g.Expect(f.call(soon)).To(Succeed())
	g.Expect(time.Since(begun)).To(BeNumerically(">=", 300*time.Millisecond), "200 ms each way, less a fifth")
}
