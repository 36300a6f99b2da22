package metrics

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// One Prometheus may see many clusters, each with a label of its own: the same
// trouble in two of them makes two alerts, and none of them counts for both.
func TestTwoClustersAreNotTakenTogether(t *testing.T) {
	for _, r := range alerts(t) {
		if strings.HasPrefix(r.Expr, "absent(") {
			continue // asks for one cluster by its ID
		}
		for name, series := range troubles[r.Alert] {
			if strings.Contains(series, "{cluster=") {
				continue // has clusters of its own
			}
			t.Run(r.Alert+"/"+name, func(t *testing.T) {
				g := NewWithT(t)
				var of []string
				for _, l := range firing(t, r, inCluster("east", series)+inCluster("west", series)) {
					of = append(of, l.Get("cluster"))
				}
				g.Expect(of).To(ConsistOf("east", "west"))
				g.Expect(firing(t, r, inCluster("east", series)+inCluster("west", healthy))).To(HaveLen(1))
			})
		}
	}
}

var metric = regexp.MustCompile(`(?m)^\s*(\w+)(?:\{(.*)\})?( .*)$`)

// inCluster gives each series the label of a cluster.
func inCluster(cluster, series string) string {
	return metric.ReplaceAllString(series, `$1{cluster="`+cluster+`",$2}$3`) + "\n"
}
