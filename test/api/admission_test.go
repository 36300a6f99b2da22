package api_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/kube"
)

// The policy of docs/security.md keeps namespaces to their own groups, for all
// kinds of bindings.
func TestTheAdmissionPolicyOfTheDocs(t *testing.T) {
	g := NewWithT(t)
	scheme := newScheme()
	for _, k := range kind.All {
		g.Expect(k.AddToScheme(scheme)).To(Succeed())
	}
	cluster := kube.ForTest(t, kube.Options{
		Name: "tenants", Scheme: scheme,
		CRDPaths: []string{crdFile, strings.Replace(crdFile, "elbv2.k8s.aws_target", "ownership.elbv2.k8s.aws_sharedtarget", 1)},
	})
	for _, name := range []string{"shop", "shop-eu"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		g.Expect(cluster.Client.Create(t.Context(), namespace)).To(Succeed())
	}
	old := tenant(kind.SharedTargetGroupBinding, "shop", "stranger")
	old.SetFinalizers([]string{"example.com/held"})
	g.Expect(cluster.Client.Create(t.Context(), old)).To(Succeed(), "before there is a policy")
	for _, object := range policyOfTheDocs(g) {
		g.Expect(cluster.Client.Create(t.Context(), object)).To(Succeed())
	}

	for _, k := range kind.All {
		refused := func(namespace, group string) func() bool {
			return func() bool {
				err := cluster.Client.Create(t.Context(), tenant(k, namespace, group), client.DryRunAll)
				return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "begin with its name and -TG-")
			}
		}
		g.Eventually(refused("shop", "web")).WithTimeout(time.Minute).Should(BeTrue(), "%s: the policy takes its time to act", k.Name)
		for group, allowed := range map[string]bool{
			"shop-TG-web": true, "shop-eu-TG-web": false, "shop-web": false, "ashop-TG-web": false, "shop-tg-web": false,
		} {
			g.Expect(refused("shop", group)()).To(Equal(!allowed), "%s of shop to %s", k.Name, group)
		}
		g.Expect(cluster.Client.Create(t.Context(), tenant(k, "shop", "shop-TG-web"))).To(Succeed())
		g.Expect(cluster.Client.Create(t.Context(), tenant(k, "shop-eu", "shop-eu-TG-web"))).To(Succeed())
		g.Expect(refused("shop-eu", "shop-TG-web")()).To(BeTrue())
	}

	g.Expect(cluster.Client.Delete(t.Context(), old)).To(Succeed())
	g.Expect(cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old)).To(Succeed())
	old.SetFinalizers(nil)
	g.Expect(cluster.Client.Update(t.Context(), old)).To(Succeed(), "what is being deleted may leave")
}

// policyOfTheDocs are the objects in the YAML of the page.
func policyOfTheDocs(g *WithT) []client.Object {
	page, err := os.ReadFile("../../docs/security.md")
	g.Expect(err).NotTo(HaveOccurred())
	found := regexp.MustCompile("(?s)```yaml\n(.*?ValidatingAdmissionPolicy.*?)```").FindSubmatch(page)
	g.Expect(found).NotTo(BeNil())
	var objects []client.Object
	for _, text := range strings.Split(string(found[1]), "---\n") {
		object := &unstructured.Unstructured{}
		g.Expect(yaml.Unmarshal([]byte(text), object)).To(Succeed())
		objects = append(objects, object)
	}
	g.Expect(objects).To(HaveLen(2))
	return objects
}

func tenant(k kind.Kind, namespace, group string) client.Object {
	object := k.New()
	b := k.Binding(object)
	b.Namespace, b.Name = namespace, strings.ToLower(group)
	b.Spec.TargetGroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/" + group + "/0123456789abcdef"
	b.Spec.ServiceRef.Name, b.Spec.ServiceRef.Port.IntVal = "web", 80
	b.Spec.MultiClusterTargetGroup = !k.Shared
	return object
}
