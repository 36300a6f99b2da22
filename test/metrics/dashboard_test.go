package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/prometheus/prometheus/promql/parser"

	"target-ownership-controller/controller/kind"
)

type dashboard struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name, Type string
			Query      string
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID          int    `json:"id"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Targets     []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	g := NewWithT(t)
	text, err := os.ReadFile(files + "dashboard.json")
	g.Expect(err).NotTo(HaveOccurred())
	var d dashboard
	g.Expect(json.Unmarshal(text, &d)).To(Succeed())
	g.Expect(d.UID).NotTo(BeEmpty())
	g.Expect(d.Panels).NotTo(BeEmpty())
	return d
}

// Grafana replaces its variables before Prometheus sees a query.
func resolved(expression string) string {
	expression = strings.ReplaceAll(expression, "$__rate_interval", "5m")
	return regexp.MustCompile(`\$(namespace|binding)`).ReplaceAllString(expression, ".*")
}

func TestTheDashboardShowsMetricsThatThereAre(t *testing.T) {
	known := series(t)
	known["leader_election_master_status"] = append(known["leader_election_master_status"], "pod") // of the scrape
	d := readDashboard(t)
	ids := map[int]bool{}
	for _, p := range d.Panels {
		g := NewWithT(t)
		g.Expect(p.Targets).NotTo(BeEmpty(), p.Title)
		g.Expect(p.Description).NotTo(BeEmpty(), p.Title)
		g.Expect(ids).NotTo(HaveKey(p.ID), p.Title)
		ids[p.ID] = true
		for _, target := range p.Targets {
			g.Expect(resolved(target.Expr)).NotTo(ContainSubstring("$"), "%s has a variable that nothing fills", p.Title)
			expectKnown(t, known, p.Title, resolved(target.Expr))
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			found := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(v.Query)
			NewWithT(t).Expect(found).NotTo(BeNil(), v.Name)
			NewWithT(t).Expect(known[found[1]]).To(ContainElement(found[2]), v.Name)
		}
	}
}

// Nothing is shown or told of one kind of bindings only.
func TestNoKindOfBindingsIsLeftOut(t *testing.T) {
	expressions := map[string]string{}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			expressions[p.Title+": "+target.Expr] = resolved(target.Expr)
		}
	}
	for _, r := range alerts(t) {
		expressions[r.Alert] = r.Expr
	}
	ofKind := map[string]func(kind.Kind) string{
		"kind": func(k kind.Kind) string { return k.Name },
		"name": func(k kind.Kind) string { return strings.ToLower(k.Name) }, // of a work queue
	}
	for what, expression := range expressions {
		parsed, err := promQL.ParseExpr(expression)
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), what)
		parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
			selector, is := node.(*parser.VectorSelector)
			if !is || strings.HasPrefix(selector.Name, "leader_election") {
				return nil
			}
			for _, m := range selector.LabelMatchers {
				for _, k := range kind.All {
					if value := ofKind[m.Name]; value != nil {
						NewWithT(t).Expect(m.Matches(value(k))).To(BeTrue(), "%s leaves out %s", what, k.Name)
					}
				}
			}
			return nil
		})
	}
}

// Every metric of ours is worth a look, or it should not be there.
func TestTheDashboardOrAnAlertUsesEachMetric(t *testing.T) {
	used := ""
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			used += target.Expr + "\n"
		}
	}
	for _, r := range alerts(t) {
		used += r.Expr + "\n"
	}
	for name := range gather(NewWithT(t), everything(NewWithT(t))) {
		NewWithT(t).Expect(used).To(MatchRegexp(`\b` + name + `(_bucket|_count|_sum)?\b`))
	}
}
