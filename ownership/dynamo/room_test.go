package dynamo

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

// What the pages say that a record has room for is what fits into an item, of
// the longest IPv4 targets, to the thousand.
func TestPagesSayHowManyTargetsARecordHolds(t *testing.T) {
	g := NewWithT(t)
	size := func(targets int) int {
		r := ownership.Record{
			Group: "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/" + ownership.GroupARN(strings.Repeat("g", 32)) + "/73e2d6bc24d8a067",
			Owner: ownership.Owner{Cluster: strings.Repeat("c", 100), Namespace: strings.Repeat("n", 63), Name: strings.Repeat("b", 253)},
			Held:  map[ownership.Target]time.Time{},
		}
		for i := range targets {
			r.Held[ownership.Target(fmt.Sprintf("100.%03d.%03d.100:30000", 100+i/100, 100+i%100))] = time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
		}
		g.Expect(r.Held).To(HaveLen(targets))
		encoded, err := encodeRecord(r)
		g.Expect(err).NotTo(HaveOccurred())
		return itemSize(encoded)
	}
	fits := 0
	for size(fits+1000) <= itemLimit-itemMargin {
		fits += 1000
	}
	for _, page := range []string{"operations.md", "runbooks/TargetOwnershipTargetsRefused.md"} {
		text, err := os.ReadFile("../../docs/" + page)
		g.Expect(err).NotTo(HaveOccurred())
		found := regexp.MustCompile(`about (\d+),000 targets`).FindSubmatch(text)
		g.Expect(found).NotTo(BeNil(), page)
		said, err := strconv.Atoi(string(found[1]))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(said*1000).To(Equal(fits), page)
	}
}
