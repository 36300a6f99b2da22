// Package web_test looks at the page in a browser without a window.
package web_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/web"
	"target-ownership-controller/ownership/admin"
)

// programs are the names of the browser, in the order in which they are tried.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// browser is the path of Chromium. A test that needs it is skipped where there
// is none, and says so.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("there is no browser: none of %s is in PATH; test/tools/install.sh chromium installs one on Debian, as root", strings.Join(programs, ", "))
	return ""
}

// patience bounds each step in the browser.
const patience = 30 * time.Second

// tab is a page in the browser, and what it did.
type tab struct {
	*WithT
	ctx context.Context
	url string

	mu       sync.Mutex
	requests []string
	troubles []string // of the console, and exceptions
}

// open serves the site and opens its page.
func open(t *testing.T, s *site) *tab {
	t.Helper()
	path := browser(t)
	server := httptest.NewServer(web.New(t.Context(), web.Source{
		Table: s.table, Lister: s, History: s.table, Version: "test", Refresh: 200 * time.Millisecond,
		Place: admin.Place{Table: "target-ownership", Region: "eu-west-1"},
	}))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, // which root has not
		chromedp.WindowSize(1360, 900), chromedp.UserDataDir(t.TempDir()))
	allocator, endBrowser := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(endBrowser)
	ctx, endTab := chromedp.NewContext(allocator)
	t.Cleanup(endTab)
	tab := &tab{WithT: NewWithT(t), ctx: ctx, url: server.URL}
	tab.Expect(chromedp.Listen(ctx, tab.hear)).To(Succeed())
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	tab.Expect(err).NotTo(HaveOccurred())
	tab.do(chromedp.Navigate(tab.url+"/"), chromedp.WaitVisible(chromedp.CSS("#groups tbody")))
	return tab
}

func (t *tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		t.requests = append(t.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		t.troubles = append(t.troubles, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		t.troubles = append(t.troubles, string(e.Type))
	}
}

func (t *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	t.Expect(chromedp.Do(ctx, steps...)).To(Succeed())
}

// read evaluates an expression.
func read[T any](t *tab, expression string) T {
	value, err := chromedp.Run(t.ctx, chromedp.Evaluate[T](expression))
	t.Expect(err).NotTo(HaveOccurred(), expression)
	return value
}

// becomes waits until the expression is true.
func (t *tab) becomes(expression string) {
	_, err := chromedp.Run(t.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(patience)))
	t.Expect(err).NotTo(HaveOccurred(), "%s; the page says: %s", expression, read[string](t, `document.body.innerText`))
}

// press sends a key as a keyboard does: the character follows only if the page
// lets it.
func (t *tab) press(key string) {
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		event := input.DispatchKeyEventParams{Type: kind, Key: key}
		if kind == input.DispatchKeyEventTypeKeyDown {
			event.Text = key
		}
		_, err := chromedp.Call(t.ctx, input.DispatchKeyEvent, event)
		t.Expect(err).NotTo(HaveOccurred())
	}
}

// photo keeps a picture of the whole page in bin/screenshots.
func (t *tab) photo(name, scheme string) {
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	t.Expect(err).NotTo(HaveOccurred())
	picture, err := chromedp.Run(t.ctx, chromedp.FullScreenshot(100))
	t.Expect(err).NotTo(HaveOccurred())
	dir := filepath.Join("..", "..", "bin", "screenshots")
	t.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	t.Expect(os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), picture, 0o644)).To(Succeed())
}
