package metrics

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/promql/parser"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	_ "target-ownership-controller/controller" // brings the metrics of controller-runtime along
	"target-ownership-controller/controller/metrics"
)

const (
	files    = "../../charts/target-ownership-controller/files/"
	runbooks = "../../docs/runbooks/"
)

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// alerts are the rules of the chart, each of which has a name, as they are in
// cluster east.
func alerts(t *testing.T) []rule {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(files + "alerts.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var content struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []rule `json:"rules"`
		} `json:"groups"`
	}
	text = bytes.ReplaceAll(text, []byte("CLUSTER_ID"), []byte("east"))
	g.Expect(yaml.UnmarshalStrict(text, &content)).To(Succeed())
	var rules []rule
	for _, group := range content.Groups {
		rules = append(rules, group.Rules...)
	}
	g.Expect(rules).NotTo(BeEmpty())
	for _, r := range rules {
		g.Expect(r.Alert).NotTo(BeEmpty())
	}
	return rules
}

var promQL = parser.NewParser(parser.Options{})

// series are the labels of each series that a controller can have, those of
// controller-runtime included.
func series(t *testing.T) map[string][]string {
	t.Helper()
	labels := map[string][]string{}
	describe(t, ctrlmetrics.Registry.(prometheus.Collector), func(name string, of []string) { labels[name] = of })
	for _, c := range metrics.Collectors() {
		_, isHistogram := c.(*prometheus.HistogramVec)
		describe(t, c, func(name string, of []string) {
			if labels[name] = of; isHistogram {
				delete(labels, name)
				labels[name+"_bucket"] = append(slices.Clone(of), "le")
				labels[name+"_sum"], labels[name+"_count"] = of, of
			}
		})
	}
	return labels
}

// describe visits the names of the metrics of a collector and their labels.
func describe(t *testing.T, c prometheus.Collector, visit func(name string, labels []string)) {
	t.Helper()
	descs := make(chan *prometheus.Desc, 1000)
	c.Describe(descs)
	close(descs)
	pattern := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for d := range descs {
		found := pattern.FindStringSubmatch(d.String())
		if found == nil {
			t.Fatalf("the description of a metric is not understood: %s", d)
		}
		visit(found[1], strings.Split(found[2], ","))
	}
}

// ofScrape are the labels by which Prometheus tells replicas apart.
var ofScrape = map[string]bool{"pod": true, "instance": true}

// expectKnown is about each selector and each label that an expression groups
// by or leaves out.
func expectKnown(t *testing.T, known map[string][]string, what, expression string) {
	t.Helper()
	g := NewWithT(t)
	parsed, err := promQL.ParseExpr(expression)
	g.Expect(err).NotTo(HaveOccurred(), "%s: %s", what, expression)
	labels := map[string]bool{}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		g.Expect(known).To(HaveKey(selector.Name), "%s: no controller has the metric", what)
		for _, l := range known[selector.Name] {
			labels[l] = true
		}
		for _, m := range selector.LabelMatchers {
			if m.Name != "__name__" {
				g.Expect(known[selector.Name]).To(ContainElement(m.Name), "%s: %s has no such label", what, selector.Name)
			}
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if aggregate, is := node.(*parser.AggregateExpr); is {
			for _, l := range aggregate.Grouping {
				if aggregate.Without && ofScrape[l] {
					continue
				}
				g.Expect(labels).To(HaveKey(l), "%s groups by a label that its metrics do not have", what)
			}
		}
		return nil
	})
}

func TestAlertsAreAboutMetricsThatThereAre(t *testing.T) {
	known := series(t)
	for _, r := range alerts(t) {
		expectKnown(t, known, r.Alert, r.Expr)
	}
}

// Whoever is paged finds a page, and each page belongs to an alert.
func TestEachAlertHasARunbook(t *testing.T) {
	g := NewWithT(t)
	pages, err := filepath.Glob(runbooks + "*.md")
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, page := range pages {
		names = append(names, strings.TrimSuffix(filepath.Base(page), ".md"))
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "README" })
	var wanted []string
	index, err := os.ReadFile(runbooks + "README.md")
	g.Expect(err).NotTo(HaveOccurred())
	for _, r := range alerts(t) {
		wanted = append(wanted, r.Alert)
		g.Expect(r.Annotations).To(HaveKeyWithValue("runbook_url", "RUNBOOKS/"+r.Alert+".md"))
		g.Expect(r.Annotations["summary"]).NotTo(BeEmpty(), r.Alert)
		g.Expect(r.Labels["severity"]).To(BeElementOf("critical", "warning", "info"), r.Alert)
		g.Expect(string(index)).To(ContainSubstring(fmt.Sprintf("| [%s](%[1]s.md) | %s |\n", r.Alert, r.Labels["severity"])))
	}
	g.Expect(names).To(ConsistOf(wanted))
}

func TestRunbooksSayWhatToDo(t *testing.T) {
	for _, r := range alerts(t) {
		text, err := os.ReadFile(runbooks + r.Alert + ".md")
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		at := 0
		for _, heading := range []string{"# " + r.Alert + "\n", "\n## Meaning\n", "\n## Impact\n", "\n## Diagnosis\n", "\n    ", "\n## Cure\n"} {
			next := strings.Index(string(text)[at:], heading)
			g.Expect(next).To(BeNumerically(">=", 0), "%s lacks %q, or has it in another place", r.Alert, heading)
			at += next
		}
		if r.For != "" {
			patience, err := time.ParseDuration(r.For)
			g.Expect(err).NotTo(HaveOccurred())
			meaning, _, _ := strings.Cut(string(text), "\n## Impact\n")
			g.Expect(meaning).To(ContainSubstring(fmt.Sprintf("or %.0f minutes", patience.Minutes())), r.Alert)
		}
	}
}
