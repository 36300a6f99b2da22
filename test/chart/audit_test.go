package chart

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/test/kube"
)

// auditEvent is what is read of an Event
// (https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/).
type auditEvent struct {
	User      struct{ Username string }
	Verb      string
	ObjectRef *struct {
		Resource, Subresource, Name, APIGroup string
	}
	Annotations map[string]string
}

// byRole finds the role in the reason why something was allowed.
var byRole = regexp.MustCompile(`of ((?:Cluster)?Role) "target-ownership-controller" to`)

// used are the permissions of the chart's roles that the service account has
// used. What is granted to everybody, such as discovery, is not among them.
// A permission that is granted for one name counts as used for that name only.
func used(t *testing.T, cluster *kube.Cluster, granted map[string]bool) map[string]bool {
	t.Helper()
	g := NewWithT(t)
	log, err := os.Open(cluster.AuditLog)
	g.Expect(err).NotTo(HaveOccurred())
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	all := map[string]bool{}
	for lines.Scan() {
		var e auditEvent
		g.Expect(json.Unmarshal(lines.Bytes(), &e)).To(Succeed())
		if e.User.Username != "system:serviceaccount:"+namespace+":target-ownership-controller" || e.ObjectRef == nil {
			continue
		}
		g.Expect(e.Annotations).To(HaveKeyWithValue("authorization.k8s.io/decision", "allow"), "%s", lines.Bytes())
		role := byRole.FindStringSubmatch(e.Annotations["authorization.k8s.io/reason"])
		g.Expect(role).To(HaveLen(2), "%s", lines.Bytes())
		resource := e.ObjectRef.Resource
		if e.ObjectRef.Subresource != "" {
			resource += "/" + e.ObjectRef.Subresource
		}
		p := permission(role[1], e.ObjectRef.APIGroup, resource, e.Verb)
		if named := p + " " + e.ObjectRef.Name; granted[named] {
			p = named
		}
		all[p] = true
	}
	g.Expect(lines.Err()).NotTo(HaveOccurred())
	return all
}

func permission(role, group, resource, verb string) string {
	return fmt.Sprintf("%s: %s %s.%s", role, verb, resource, group)
}

// granted are the permissions of the roles in the cluster.
func granted(t *testing.T, cluster *kube.Cluster) map[string]bool {
	t.Helper()
	g := NewWithT(t)
	var clusterRole rbacv1.ClusterRole
	var role rbacv1.Role
	g.Expect(cluster.Client.Get(t.Context(), client.ObjectKey{Name: releaseName}, &clusterRole)).To(Succeed())
	g.Expect(cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: releaseName}, &role)).To(Succeed())
	all := map[string]bool{}
	for kind, rules := range map[string][]rbacv1.PolicyRule{"ClusterRole": clusterRole.Rules, "Role": role.Rules} {
		for _, rule := range rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						p := permission(kind, group, resource, verb)
						if len(rule.ResourceNames) == 0 {
							all[p] = true
						}
						for _, name := range rule.ResourceNames {
							all[p+" "+name] = true
						}
					}
				}
			}
		}
	}
	g.Expect(strings.Join(sorted(all), "\n")).NotTo(ContainSubstring("*"))
	return all
}
