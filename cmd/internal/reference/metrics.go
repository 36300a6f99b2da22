package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"target-ownership-controller/controller/metrics"
)

const aboutMetrics = `# Metrics

Served under ` + "`/metrics`" + ` at ` + "`--metrics-bind-address`" + `. Only the replica that leads has values about bindings and clusters. ` +
	"`namespace`" + ` is that of the binding: scrape with ` + "`honorLabels: true`" + `. Series of a binding that is deleted go with it.

controller-runtime adds its own, such as ` + "`leader_election_master_status`, `controller_runtime_reconcile_errors_total`, `workqueue_depth`" + `, and those of the Go runtime and the process.

`

// described is how a description prints itself: it has no other way.
var described = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: "(.*)", unit: "[^"]*", constLabels: \{\}, variableLabels: \{([^}]*)\}`)

func metricsPage(string) (string, error) {
	var rows []string
	for _, c := range metrics.Collectors() {
		descs := make(chan *prometheus.Desc, 10)
		c.Describe(descs)
		close(descs)
		for d := range descs {
			found := described.FindStringSubmatch(d.String())
			if found == nil {
				return "", fmt.Errorf("this description is not understood: %s", d)
			}
			var labels []string
			for _, l := range strings.Split(found[3], ",") {
				if l != "" {
					labels = append(labels, code(l))
				}
			}
			rows = append(rows, row(code(found[1]), kind(c, found[1]), strings.Join(labels, ", "), strings.ReplaceAll(found[2], `\"`, `"`)))
		}
	}
	slices.Sort(rows)
	return aboutMetrics + table("metric", "type", "labels", "meaning") + strings.Join(rows, ""), nil
}

// kind goes by the conventions of names, which a test holds the metrics to.
func kind(c prometheus.Collector, name string) string {
	if _, is := c.(*prometheus.HistogramVec); is {
		return "histogram"
	}
	if strings.HasSuffix(name, "_total") {
		return "counter"
	}
	return "gauge"
}
