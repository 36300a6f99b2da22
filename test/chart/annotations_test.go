package chart

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/kind"
)

// With bindings from annotations, and without, the role has no more than the
// kinds ask for: what is made is of the first.
func TestRulesOfAnnotations(t *testing.T) {
	ingresses := []string{"get", "list", "watch"}
	served, made := []string{"get", "list", "patch", "watch"}, []string{"create", "delete", "get", "list", "patch", "watch"}
	tgb, stgb := kind.TargetGroupBinding, kind.SharedTargetGroupBinding
	for _, c := range []struct {
		kinds     []any
		on        bool
		ingresses []string
		tgb, stgb []string
	}{
		{[]any{tgb.Name, stgb.Name}, false, nil, served, served},
		{[]any{tgb.Name}, true, ingresses, made, nil},
		{[]any{stgb.Name}, true, ingresses, nil, made},
		{[]any{tgb.Name, stgb.Name}, true, ingresses, made, served},
		{[]any{stgb.Name, tgb.Name}, true, ingresses, served, made},
	} {
		g := NewWithT(t)
		v := least()
		v["bindingKinds"], v["bindingsFromAnnotations"] = c.kinds, c.on
		verbs := verbsOf(t, v)
		g.Expect(verbs["ingresses.networking.k8s.io"]).To(Equal(c.ingresses), "%v", c)
		g.Expect(verbs["ingressclasses.networking.k8s.io"]).To(Equal(c.ingresses), "%v", c)
		g.Expect(verbs[tgb.Resource+"."+tgb.Version.Group]).To(Equal(c.tgb), "%v", c)
		g.Expect(verbs[stgb.Resource+"."+stgb.Version.Group]).To(Equal(c.stgb), "%v", c)
	}
}

// verbsOf are those of the ClusterRole, by resource and group.
func verbsOf(t *testing.T, v values) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, document := range strings.Split(mustRender(t, v).Manifest, "---\n") {
		var role rbacv1.ClusterRole
		if yaml.UnmarshalStrict([]byte(document), &role) != nil || role.Kind != "ClusterRole" {
			continue
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				name := resource + "." + rule.APIGroups[0]
				all[name] = append(all[name], rule.Verbs...)
				slices.Sort(all[name])
			}
		}
	}
	return all
}
