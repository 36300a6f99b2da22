package chart

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
)

// The alerts are about the cluster that they are installed in, and lead to
// where its people have the pages.
func TestAlertsAreFilledIn(t *testing.T) {
	g := NewWithT(t)
	v := least()
	v["metrics"] = values{"prometheusRule": values{"enabled": true, "runbookURL": "https://docs.example.com/%s_alert/?from=page"}}
	manifest := mustRender(t, v).Manifest
	g.Expect(manifest).To(ContainSubstring(`absent(target_ownership_controller_info{cluster_id="east"})`))
	g.Expect(manifest).To(ContainSubstring("{{ $labels.namespace }}/{{ $labels.binding }}"), "is for Prometheus")
	var pages []string
	for _, found := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(manifest, -1) {
		pages = append(pages, "runbook_url: https://docs.example.com/"+found[1]+"_alert/?from=page")
	}
	g.Expect(pages).NotTo(BeEmpty())
	g.Expect(regexp.MustCompile(`runbook_url: .*`).FindAllString(manifest, -1)).To(Equal(pages))
}

// The CRD goes only if somebody has said what goes with it.
func TestTheCRDIsDeletedOnlyWithConsent(t *testing.T) {
	for set, v := range map[string]values{
		"crds.deleteBindings":        {"crds": values{"keep": false, "deleteBindings": true}},
		"releaseOnUninstall.enabled": {"crds": values{"keep": false}, "releaseOnUninstall": values{"enabled": true}},
	} {
		t.Run(set, func(t *testing.T) {
			g := NewWithT(t)
			v["clusterID"], v["image"] = least()["clusterID"], least()["image"]
			r := mustRender(t, v)
			g.Expect(r.Manifest).NotTo(ContainSubstring("helm.sh/resource-policy"))
			g.Expect(r.Info.Notes).To(ContainSubstring("WARNING: crds.keep is false"))
		})
	}
	g, foreign := NewWithT(t), least()
	foreign["crds"] = values{"install": false, "keep": false} // somebody else's CRD stays in any case
	g.Expect(mustRender(t, foreign).Info.Notes).NotTo(ContainSubstring("crds.keep"))
	kept := mustRender(t, least())
	g.Expect(kept.Manifest).To(ContainSubstring("helm.sh/resource-policy: keep"))
	g.Expect(kept.Info.Notes).NotTo(ContainSubstring("crds.keep"))
}

// People are told of the kinds that they have.
func TestNotesNameTheKinds(t *testing.T) {
	g := NewWithT(t)
	v := least()
	v["bindingKinds"] = []any{"SharedTargetGroupBinding"}
	notes := mustRender(t, v).Info.Notes
	g.Expect(notes).To(ContainSubstring("Apply a SharedTargetGroupBinding,"))
	g.Expect(notes).To(ContainSubstring("kubectl get sharedtargetgroupbindings --all-namespaces"))
	v["bindingKinds"] = []any{"TargetGroupBinding", "SharedTargetGroupBinding"}
	g.Expect(mustRender(t, v).Info.Notes).To(ContainSubstring("kubectl get targetgroupbindings,sharedtargetgroupbindings --all-namespaces"))
}
