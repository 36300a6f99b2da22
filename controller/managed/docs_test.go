package managed_test

import (
	"os"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/managed"
)

// The manifests of docs/annotations.md lead to what the page says.
func TestManifestsOfTheDocs(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("../../docs/annotations.md")
	g.Expect(err).NotTo(HaveOccurred())
	services := map[string]*corev1.Service{"api": {Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}}}
	var got []string
	for _, match := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		var of metav1.TypeMeta
		g.Expect(yaml.Unmarshal(match[1], &of)).To(Succeed())
		var request managed.Request
		switch of.Kind {
		case "Service":
			var s corev1.Service
			g.Expect(yaml.UnmarshalStrict(match[1], &s)).To(Succeed())
			services[s.Name] = &s
			request = managed.OfService(&s)
		case "Ingress":
			var i networkingv1.Ingress
			g.Expect(yaml.UnmarshalStrict(match[1], &i)).To(Succeed())
			class := &networkingv1.IngressClass{Spec: networkingv1.IngressClassSpec{Controller: "ingress.k8s.aws/alb"}}
			request = managed.OfIngress(&i, class, services)
		case "IngressClass":
			var c networkingv1.IngressClass
			g.Expect(yaml.UnmarshalStrict(match[1], &c)).To(Succeed())
			g.Expect(c.Spec.Controller).To(Equal(managed.OwnClassController))
		}
		g.Expect(request.Problems).To(BeEmpty(), "%s", match[1])
		for _, w := range request.Bindings {
			got = append(got, describe(w))
		}
	}
	g.Expect(got).To(Equal([]string{
		"web:http shop-web",
		"web:http shop-inside", "web:http shop-outside",
		"web:https arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/shop-tls/73e2d6bc24d8a067",
		"web:admin shop-admin instance role=edge",
		"web:http shop-web", "api:http shop-api",
	}))
}
