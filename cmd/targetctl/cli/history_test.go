package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/memory"
)

// tell writes what happened in the group of the bench.
func (b *bench) tell(t *testing.T) {
	for _, e := range []history.Entry{
		{
			Time: now.Add(-48 * time.Hour), ID: "1", Cluster: "west", Binding: "shop/web", By: "controller v1.2.3",
			Events: []history.Event{{What: history.Claimed, Reason: "wanted", Targets: []ownership.Target{"10.0.0.2:80"}}},
		},
		{
			Time: now.Add(-time.Hour), ID: "2", Cluster: "east", Binding: "shop/web",
			Events: []history.Event{
				{What: history.Claimed, Reason: "wanted", Targets: []ownership.Target{"10.0.0.1:80", "10.0.0.3:80", "10.0.0.4:80", "10.0.0.5:80"}},
				{What: history.Blocked, Reason: "another owner takes it out", Targets: []ownership.Target{"10.0.0.1:80"}, Others: []string{"west/shop/web"}},
			},
		},
		{
			Time: now.Add(-time.Minute), ID: "3", Cluster: "west", Binding: "shop/web", By: "targetctl",
			Events: []history.Event{{What: history.Released, Reason: "gone", Targets: []ownership.Target{"10.0.0.2:80"}}},
		},
	} {
		e.Group = arn
		b.Expect(b.table.Record(t.Context(), e)).To(Succeed())
	}
}

func TestHistory(t *testing.T) {
	for line, want := range map[string]string{
		"history blue": `
TIME                   OWNER                         WHAT       TARGETS                                          WHY
2026-07-01T11:59:00Z   west/shop/web, by targetctl   released   10.0.0.2:80                                      gone
2026-07-01T11:00:00Z   east/shop/web                 claimed    10.0.0.1:80 10.0.0.3:80 10.0.0.4:80 and 1 more   wanted
                                                     blocked    10.0.0.1:80                                      another owner takes it out (west/shop/web)
`,
		"history blue 10.0.0.2:80 --since 72h": `
TIME                   OWNER                         WHAT       TARGETS       WHY
2026-07-01T11:59:00Z   west/shop/web, by targetctl   released   10.0.0.2:80   gone
2026-06-29T12:00:00Z   west/shop/web                 claimed    10.0.0.2:80   wanted
`,
		"history blue --limit 1": `
TIME                   OWNER                         WHAT       TARGETS       WHY
2026-07-01T11:59:00Z   west/shop/web, by targetctl   released   10.0.0.2:80   gone
`,
		"history blue --since 1s": "\nnothing was recorded in that time\n",
	} {
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			b.tell(t)
			code, out, errs := b.run(strings.Fields(line)...)
			b.Expect(code).To(Equal(exitOK), errs)
			if diff := cmp.Diff(want, "\n"+out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHistoryForScripts(t *testing.T) {
	b := newBench(t)
	b.tell(t)
	_, out, _ := b.run("history", "blue", "-o", "json")
	var told account
	b.Expect(json.Unmarshal([]byte(out), &told)).To(Succeed())
	b.Expect(told.Group).To(Equal(arn))
	b.Expect(told.Entries).To(HaveLen(2))
	b.Expect(told.Entries[1].Events).To(HaveLen(2))
}

func TestHistoryThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.table.Intercept(func(memory.Op) memory.Fault { return memory.Refuse(ownership.ErrThrottled) })
	code, out, errs := b.run("history", "blue")
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(out).To(BeEmpty())
	b.Expect(errs).To(ContainSubstring("the table is throttling"))
	for _, line := range []string{"history", "history blue nosuch", "history blue --since -1h", "history blue --limit -1"} {
		code, _, _ := b.run(strings.Fields(line)...)
		b.Expect(code).To(Equal(exitUsage), line)
	}
}
