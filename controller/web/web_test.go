package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/web"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/memory"
)

const arn ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

// listing counts how often the load balancer was asked.
type listing struct {
	health admin.Health
	asked  atomic.Int32
	takes  time.Duration
}

func (l *listing) Health(ctx context.Context, _ ownership.GroupARN) (admin.Health, error) {
	l.asked.Add(1)
	select {
	case <-time.After(l.takes):
		return l.health, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bench is a view of a table with one cluster that holds a target.
type bench struct {
	*WithT
	table *memory.Table
	group *listing
	view  http.Handler
}

func newBench(t *testing.T) *bench {
	b := &bench{WithT: NewWithT(t), table: memory.New(), group: &listing{health: admin.Health{"10.0.0.1:80": "healthy"}}}
	b.Expect(b.table.PutCluster(t.Context(), ownership.Cluster{
		ID: "east", Fingerprint: "uid", State: ownership.ClusterActive, HeartbeatAt: time.Now(),
		Revision: ownership.Revision{Version: 1, WriteID: "c"},
	}, ownership.Revision{})).To(Succeed())
	b.Expect(b.table.Put(t.Context(), ownership.Record{
		Group: arn, Owner: ownership.Owner{Cluster: "east", Namespace: "shop", Name: "web"}, BindingUID: "uid",
		Held: map[ownership.Target]time.Time{"10.0.0.1:80": time.Now()}, Revision: ownership.Revision{Version: 1, WriteID: "r"},
	}, ownership.Revision{})).To(Succeed())
	b.Expect(b.table.Record(t.Context(), history.Entry{
		Group: arn, Time: time.Now(), ID: "1", Cluster: "east", Binding: "shop/web",
		Events: []history.Event{{What: history.Claimed, Reason: "wanted", Targets: []ownership.Target{"10.0.0.1:80"}}},
	})).To(Succeed())
	b.view = web.New(t.Context(), web.Source{
		Table: b.table, Lister: b.group, History: b.table, Place: admin.Place{Table: "owners", Region: "eu-west-1"},
	}, "tools.example")
	return b
}

func (b *bench) get(method, host, path string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	b.view.ServeHTTP(w, r)
	return w.Result()
}

// answer is what the page reads of a survey.
type answer struct {
	Serial   int
	Survey   *admin.Survey
	Findings []admin.Finding
	Error    string
}

func (b *bench) site() answer {
	response := b.get(http.MethodGet, "localhost", "/site.json")
	b.Expect(response.StatusCode).To(Equal(http.StatusOK))
	var a answer
	b.Expect(json.NewDecoder(response.Body).Decode(&a)).To(Succeed())
	return a
}

func TestWhatAPageAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a := b.site()
		b.Expect(a.Survey.Groups).To(HaveLen(1))
		b.Expect(a.Survey.Groups[0].TargetGroup).To(Equal(arn))
		b.Expect(a.Findings).To(BeEmpty())

		response := b.get(http.MethodGet, "localhost", "/history.json?group="+string(arn))
		var told struct{ Entries []history.Entry }
		b.Expect(json.NewDecoder(response.Body).Decode(&told)).To(Succeed())
		b.Expect(told.Entries).To(HaveLen(1))
		b.Expect(b.get(http.MethodGet, "localhost", "/history.json?group="+string(arn)+"0").StatusCode).To(Equal(http.StatusNotFound))
		b.Expect(b.get(http.MethodGet, "localhost", "/nosuch").StatusCode).To(Equal(http.StatusNotFound))
		b.Expect(b.get(http.MethodPost, "localhost", "/site.json").StatusCode).To(Equal(http.StatusMethodNotAllowed))
	})
}

// A name that is not ours may be one of another site that resolves to us.
func TestNamesOfOtherSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for host, status := range map[string]int{
			"localhost:8090": 200, "LOCALHOST": 200, "127.0.0.1:8090": 200, "[::1]:8090": 200, "10.0.0.7": 200, "tools.example:80": 200,
			"evil.example": 421, "evil.example:8090": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "": 421,
		} {
			for _, path := range []string{"/", "/site.json", "/history.json?group=" + string(arn)} {
				b.Expect(b.get(http.MethodGet, host, path).StatusCode).To(Equal(status), "%q %s", host, path)
			}
		}
	})
}

func TestHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for _, path := range []string{"/", "/page.js", "/site.json"} {
			h := b.get(http.MethodGet, "localhost", path).Header
			b.Expect(h.Get("Content-Security-Policy")).To(And(HavePrefix("default-src 'none'; script-src 'self'"), Not(ContainSubstring("unsafe"))))
			b.Expect(h.Get("X-Content-Type-Options")).To(Equal("nosniff"))
			b.Expect(h.Get("Cross-Origin-Resource-Policy")).To(Equal("same-origin"))
			b.Expect(h).NotTo(HaveKey("Access-Control-Allow-Origin"))
		}
	})
}

// Nothing of the page is from elsewhere, and no script makes markup of text.
func TestFilesOfThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for _, path := range []string{"/", "/style.css", "/page.js", "/dom.js", "/model.js", "/groups.js", "/icon.svg"} {
			response := b.get(http.MethodGet, "localhost", path)
			b.Expect(response.StatusCode).To(Equal(200), path)
			text, err := io.ReadAll(response.Body)
			b.Expect(err).NotTo(HaveOccurred())
			outside := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]+\S*`).FindAllString(string(text), -1)
			for _, url := range outside {
				b.Expect(url).To(HavePrefix("http://www.w3.org/"), path) // a namespace
			}
			b.Expect(string(text)).NotTo(MatchRegexp(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|style="|onclick=`), path)
		}
	})
}

// However many watch, and however often, there is one survey in ten seconds,
// and none once nobody watches.
func TestOneSurveyForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		time.Sleep(time.Hour)
		b.Expect(b.group.asked.Load()).To(BeZero(), "nobody has watched yet")
		for range 120 {
			for range 5 {
				go b.site()
			}
			time.Sleep(500 * time.Millisecond)
		}
		b.Expect(b.group.asked.Load()).To(And(BeNumerically(">=", 6), BeNumerically("<=", 7)), "in a minute")
		time.Sleep(time.Minute)
		after := b.group.asked.Load()
		time.Sleep(time.Hour)
		b.Expect(b.group.asked.Load()).To(Equal(after))
		before := b.site().Serial // what there is, at once
		time.Sleep(time.Second)
		b.Expect(b.site().Serial).To(BeNumerically(">", before), "it reads again")
	})
}

// Silence is told on our own clock.
func TestSilenceIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.table.EditCluster("east", func(c *ownership.Cluster) { c.HeartbeatAt = time.Now().Add(time.Hour) })
		silent := func() (silent bool) {
			for _, f := range b.site().Findings {
				silent = silent || f.Check == admin.CheckClusterSilent
			}
			return silent
		}
		for range 13 {
			b.Expect(silent()).To(BeFalse())
			time.Sleep(10 * time.Second)
			b.table.EditCluster("east", func(c *ownership.Cluster) { c.HeartbeatSeq++ })
		}
		for range 15 {
			b.site()
			time.Sleep(10 * time.Second)
		}
		b.Expect(silent()).To(BeTrue())
	})
}

// What was read last stays, with the reason why it is old.
func TestATableThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Expect(b.site().Error).To(BeEmpty())
		b.table.Intercept(func(memory.Op) memory.Fault { return memory.Refuse(fmt.Errorf("%w", ownership.ErrThrottled)) })
		time.Sleep(11 * time.Second)
		a := b.site()
		b.Expect(a.Error).To(ContainSubstring("throttling"))
		b.Expect(a.Survey.Groups).To(HaveLen(1))
	})
}

// A survey that takes longer than it may shows what it has read.
func TestMoreGroupsThanThereIsTimeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.group.takes = 10 * time.Second
		for i := range 200 {
			group := ownership.GroupARN(fmt.Sprintf("%s%d", arn[:len(arn)-5], 10000+i))
			b.Expect(b.table.Put(t.Context(), ownership.Record{
				Group: group, Owner: ownership.Owner{Cluster: "east", Namespace: "shop", Name: "web"}, BindingUID: "uid",
				Held: map[ownership.Target]time.Time{"10.0.0.1:80": time.Now()}, Revision: ownership.Revision{Version: 1, WriteID: "r"},
			}, ownership.Revision{})).To(Succeed())
		}
		a := b.site()
		for range 20 {
			a = b.site()
		}
		b.Expect(a.Error).To(BeEmpty())
		b.Expect(a.Survey.Groups).To(HaveLen(201))
		b.Expect(a.Survey.Groups[0].Late).To(BeFalse())
		b.Expect(a.Survey.Groups[200].Late).To(BeTrue())
		b.Expect(a.Findings).To(HaveLen(1), "and no cluster is called silent")
		b.Expect(a.Findings[0].Check).To(Equal(admin.CheckGroupUnread))
	})
}
