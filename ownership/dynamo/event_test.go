package dynamo

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/history"
	"target-ownership-controller/ownership/plan"
)

const web ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef"

// An item of history never nears the limit of DynamoDB, 400 KB, however much a
// pass does and however long the names are.
func TestTheLargestEntryIsBelow64KB(t *testing.T) {
	name := strings.Repeat("n", 253)
	longest := ownership.Owner{Cluster: name[:100], Namespace: name[:63], Name: name}.String()
	e := history.Entry{
		Group: web, Time: time.Now(), ID: strings.Repeat("i", 36),
		Cluster: name[:100], Binding: name[:63] + "/" + name, By: "controller " + name, Expires: time.Now(),
	}
	for i := range 100 {
		event := history.Event{
			What: history.Kinds[i%len(history.Kinds)], Reason: strings.Repeat("r", 5000),
			Others: []string{longest, longest, longest, longest, longest},
		}
		for j := range 1000 {
			event.Targets = append(event.Targets, ownership.Target(fmt.Sprintf("[2001:0db8:0000:0000:0000:0000:%04x:%04x]:30080", i, j)))
		}
		e.Events = append(e.Events, event)
	}
	g, largest := NewWithT(t), 0
	for _, part := range append(e.Split(), e.Bound()) {
		size := itemSize(encodeEntry(part))
		g.Expect(part.Size()).To(BeNumerically(">=", size))
		largest = max(largest, size)
	}
	g.Expect(largest).To(BeNumerically("<", 64<<10))
	g.Expect(largest).To(BeNumerically(">", 32<<10), "the test is no longer of a large entry")
}

// replacement is the history of a pass that replaces n targets, each by another.
func replacement(n int) history.Entry {
	came, went := make([]ownership.Target, n), make([]ownership.Target, n)
	for i := range n {
		address := fmt.Sprintf("%d.%d:8080", 100+i/150, 100+i%150)
		came[i], went[i] = ownership.Target("10.0."+address), ownership.Target("10.1."+address)
	}
	owner := ownership.Owner{Cluster: "east", Namespace: "shop", Name: "web"}
	e := history.NewEntry(ownership.Key{Group: web, Owner: owner}, "controller v1.2.3", time.Now(), strings.Repeat("i", 36), []history.Event{
		{What: history.Claimed, Reason: string(plan.Wanted), Targets: came},
		{What: history.Releasing, Reason: string(plan.Unwanted), Targets: went},
		{What: history.Registered, Reason: string(plan.Unconfirmed), Targets: came},
		{What: history.Deregistered, Reason: string(plan.NobodyHolds), Targets: went},
		{What: history.Released, Reason: string(plan.Deregistered), Targets: went},
	})
	e.Expires = e.Time.Add(time.Hour)
	return e
}

// What docs/operations.md says that history costs.
func TestHistoryCostsWhatTheDocsSay(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/operations.md")
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range []struct {
		n    int
		name string
	}{{1, "1"}, {2, "2"}, {10, "10"}, {50, "50"}, {150, "150"}, {3000, "3,000"}} {
		size, writes, parts := 0, 0, replacement(c.n).Split()
		for _, part := range parts {
			bytes := itemSize(encodeEntry(part))
			size += bytes
			writes += (bytes + 1023) / 1024
		}
		g.Expect(string(page)).To(ContainSubstring(fmt.Sprintf("| %s | %d | %.1f KB | %d |\n", c.name, len(parts), float64(size)/1024, writes)))
	}
}

// By its size an entry waits for its turn: never less than it takes.
func TestTheSizeOfAnEntry(t *testing.T) {
	g := NewWithT(t)
	for _, n := range []int{1, 10, 50, 150} {
		for _, part := range replacement(n).Split() {
			real := itemSize(encodeEntry(part))
			g.Expect(part.Size()).To(And(BeNumerically(">=", real), BeNumerically("<", real+200)))
		}
	}
}

// What is shown in the console, and what its filters and docs/audit.md go by.
func TestAnEntryAsAnItem(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	got := encodeEntry(history.Entry{
		Group: web, Time: at, ID: "id", Cluster: "east", Binding: "shop/web", By: "controller v1", Expires: at.Add(time.Second),
		Events: []history.Event{
			{What: history.Deregistered, Reason: "gone", Targets: []ownership.Target{"10.0.0.5:80"}},
			{What: history.Deregistered, Reason: "lost", Targets: []ownership.Target{"10.0.0.4:80", "10.0.0.5:80"}, More: 2},
			{What: history.Kept, Reason: "held", Targets: []ownership.Target{"10.0.0.6:80"}, Others: []string{"west/shop/web"}},
		},
	})
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	l := func(v ...types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: v} }
	ss := func(v ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: v} }
	m := func(v item) types.AttributeValue { return &types.AttributeValueMemberM{Value: v} }
	NewWithT(t).Expect(got).To(Equal(item{
		"targetGroup":  s("history#" + string(web)),
		"owner":        s("2026-03-01T12:00:00.000000005Z#id"),
		"cluster":      s("east"),
		"binding":      s("shop/web"),
		"by":           s("controller v1"),
		"deregistered": ss("10.0.0.4:80", "10.0.0.5:80"),
		"kept":         ss("10.0.0.6:80"),
		"events": l(
			m(item{"what": s("deregistered"), "reason": s("gone"), "targets": l(s("10.0.0.5:80"))}),
			m(item{"what": s("deregistered"), "reason": s("lost"), "targets": l(s("10.0.0.4:80"), s("10.0.0.5:80")), "more": n("2")}),
			m(item{"what": s("kept"), "reason": s("held"), "targets": l(s("10.0.0.6:80")), "others": l(s("west/shop/web"))}),
		),
		"expiresAt": n("1772366401"),
	}))
}
