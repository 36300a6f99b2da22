package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

const (
	rows     = `[...document.querySelectorAll(".group")].map(b => b.textContent)`
	focused  = `document.activeElement.textContent`
	verdict  = `document.getElementById("verdict").textContent`
	expanded = `[...document.querySelectorAll('.group[aria-expanded=true]')].map(b => b.textContent)`
)

// well fails for anything that the page complains of or asks elsewhere.
func (t *tab) well() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Expect(t.troubles).To(BeEmpty())
	t.Expect(len(t.requests)).To(BeNumerically(">", 5))
	for _, url := range t.requests {
		t.Expect(url).To(HavePrefix(t.url + "/"))
	}
}

func TestNothingNeedsAttention(t *testing.T) {
	tab := open(t, calm(t))
	tab.becomes(verdict + ` === "Nothing needs attention"`)
	tab.Expect(read[[]string](tab, rows)).To(Equal([]string{"checkout", "search"}))
	tab.Expect(read[string](tab, `document.querySelector("#groups tr.row").innerText`)).To(MatchRegexp(`(?s)checkout.*4 healthy.*2 of 2 healthy.*2 of 2 healthy`))
	tab.photo("calm", "light")
	tab.photo("calm", "dark")
	tab.well()
}

func TestWhatNeedsAttention(t *testing.T) {
	tab := open(t, busy(t))
	tab.becomes(verdict + `.endsWith("need attention")`)
	text := read[string](tab, `document.querySelector("main").innerText`)
	for _, want := range []string{
		"targetctl cluster retire west", "no heartbeat for 3 h", "Drained",
		"13 of 14 healthy", "1 blocked", "1 shared", "1 target", "2 leaving",
	} {
		tab.Expect(text).To(ContainSubstring(want))
	}
	tab.do(chromedp.Click(chromedp.CSS(".group")), chromedp.WaitVisible(chromedp.CSS(".history")))
	detail := read[string](tab, `document.querySelector(".detail").innerText`)
	tab.Expect(detail).To(ContainSubstring("no record names it"))
	tab.Expect(detail).To(MatchRegexp(`10\.0\.7\.9:8080\s+draining\s+in no record any more\s+leaving`))
	tab.Expect(read[string](tab, `document.querySelector("#groups tr.row td:last-child").innerText`)).To(Equal("1 target"))
	tab.Expect(detail).To(MatchRegexp(`blocked 10\.0\.7\.7:8080: another owner is taking it out \(north/shop/checkout\)`))
	tab.photo("busy", "light")
	tab.photo("busy", "dark")
	tab.well()
}

// A heartbeat that gets old while the groups are read makes no cluster silent.
func TestGroupsThatTakeLong(t *testing.T) {
	s := newSite(t)
	s.cluster(t, "east", ownership.ClusterActive, 118*time.Second)
	s.record(t, "checkout", owner("east", "shop", "checkout"), entries{"10.0.1.4:8080": time.Hour}, nil)
	s.lists("checkout", "10.0.1.4:8080", "healthy")
	entry, err := s.table.Cluster(t.Context(), "east")
	s.Expect(err).NotTo(HaveOccurred())
	first := time.After(time.Until(entry.HeartbeatAt.Add(122 * time.Second)))
	s.wait = func(ctx context.Context) {
		select {
		case <-first:
		case <-ctx.Done():
		}
	}
	tab := open(t, s)
	tab.Expect(read[string](tab, `document.querySelector("#clusters").innerText`)).To(MatchRegexp(`heartbeat (118|119) s ago|heartbeat 1 min ago`))
	tab.Expect(read[bool](tab, `document.querySelector("#clusters .silent") === null`)).To(BeTrue())
	tab.Expect(read[string](tab, verdict)).To(Equal("Nothing needs attention"))
	tab.well()
}

// On a small screen the table scrolls, and not the page.
func TestSmallScreen(t *testing.T) {
	tab := open(t, busy(t))
	tab.do(chromedp.EmulateViewport(400, 800))
	tab.becomes(`window.innerWidth === 400`)
	tab.Expect(read[int](tab, `document.documentElement.scrollWidth`)).To(BeNumerically("<=", 400))
	tab.do(chromedp.Click(chromedp.CSS(".group")), chromedp.WaitVisible(chromedp.CSS(".history")))
	tab.photo("small", "light")
	tab.well()
}

// A change of the table is seen without a reload, and leaves the focus and
// what is open where they are.
func TestLive(t *testing.T) {
	s := calm(t)
	tab := open(t, s)
	tab.do(chromedp.Click(chromedp.CSS(".group")), chromedp.Focus(chromedp.CSS(".group")))
	tab.do(chromedp.Evaluate[chromedp.Void](`window.loaded = "once"`))
	s.record(t, "checkout", owner("west", "shop", "checkout"), entries{"10.0.2.77:8080": time.Second}, nil)
	tab.becomes(`document.querySelector(".detail").innerText.includes("10.0.2.77:8080")`)
	s.record(t, "new", owner("west", "shop", "new"), nil, nil)
	s.lists("new")
	tab.becomes(rows + `.join() === "checkout,new,search"`)
	tab.Expect(read[string](tab, focused)).To(Equal("checkout"))
	tab.Expect(read[[]string](tab, expanded)).To(Equal([]string{"checkout"}))
	tab.Expect(read[string](tab, `window.loaded`)).To(Equal("once"))
	tab.well()
}

func TestKeys(t *testing.T) {
	tab := open(t, busy(t))
	tab.do(chromedp.KeyEvent("j"))
	tab.Expect(read[string](tab, focused)).To(Equal("checkout"))
	tab.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent("k"))
	tab.Expect(read[string](tab, focused)).To(Equal("legacy-api"))
	tab.do(chromedp.KeyEvent(kb.Enter))
	tab.Expect(read[[]string](tab, expanded)).To(Equal([]string{"legacy-api"}))
	tab.do(chromedp.KeyEvent(kb.Enter))
	tab.Expect(read[[]string](tab, expanded)).To(BeEmpty())

	tab.press("/")
	tab.do(chromedp.KeyEvent("10.0.7.40"))
	tab.Expect(read[[]string](tab, rows)).To(Equal([]string{"search"}))
	tab.do(chromedp.KeyEvent(kb.Escape))
	tab.Expect(read[[]string](tab, rows)).To(HaveLen(3))

	tab.do(chromedp.KeyEvent("p"))
	tab.becomes(`document.getElementById("fresh").textContent.startsWith("paused")`)
	tab.do(chromedp.KeyEvent("?"))
	tab.Expect(read[bool](tab, `document.getElementById("keys").open`)).To(BeTrue())
	tab.do(chromedp.KeyEvent(kb.Escape))
	tab.Expect(read[bool](tab, `document.getElementById("keys").open`)).To(BeFalse())
	tab.well()
}

// By Tab alone everything that does something is reached, and can be seen to
// have the focus.
func TestTab(t *testing.T) {
	tab := open(t, calm(t))
	var reached []string
	for range 9 {
		tab.do(chromedp.KeyEvent(kb.Tab))
		reached = append(reached, read[string](tab, `document.activeElement.id || document.activeElement.textContent || document.activeElement.className`))
		tab.Expect(read[bool](tab, `document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none"`)).To(BeTrue())
	}
	tab.Expect(strings.Join(reached, " ")).To(ContainSubstring("pause help filter"))
	tab.Expect(reached).To(ContainElements("checkout", "search"))
}

// What a record says is text, whatever it says.
func TestHostileRecords(t *testing.T) {
	s := newSite(t)
	const markup = `<img src=x onerror="window.hit=1">`
	s.cluster(t, "east", ownership.ClusterActive, 0)
	s.table.EditCluster(markup, func(c *ownership.Cluster) {
		*c = ownership.Cluster{ID: markup, Fingerprint: "f", State: `"><script>window.hit=1</script>`, HeartbeatAt: time.Now(), ControllerVersion: `<svg onload="window.hit=1">`}
	})
	s.table.BreakCluster(`javascript:window.hit=1`, `<b>bold</b>`)
	s.record(t, "blue", owner("east", `<iframe src=javascript:window.hit=1>`, `a"onfocus="window.hit=1`), entries{"10.0.0.1:80": time.Hour}, nil)
	s.table.Break(ownership.Key{Group: arn("blue"), Owner: owner("east", "x", markup)}, markup)
	s.lists("blue", "10.0.0.1:80", "healthy", "10.0.0.2:80", `<i class=hit>`)
	tab := open(t, s)
	tab.do(chromedp.Click(chromedp.CSS(".group")))
	tab.becomes(`document.querySelector(".detail").innerText.includes('<iframe src=javascript:window.hit=1>')`)
	text := read[string](tab, `document.body.innerText`)
	for _, want := range []string{markup, `"><script>window.hit=1</script>`, `<svg onload="window.hit=1">`, `<b>bold</b>`, `<i class=hit>`} {
		tab.Expect(text).To(ContainSubstring(want))
	}
	tab.Expect(read[bool](tab, `window.hit === undefined`)).To(BeTrue())
	tab.Expect(read[int](tab, `document.querySelectorAll("main img, main script, main iframe, main svg, main b.hit, .hit").length`)).To(BeZero())
	tab.well()
}
