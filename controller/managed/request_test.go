package managed_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/managed"
)

// manifests are the objects of a file in testdata, and what they lead to.
type manifests struct {
	service  *corev1.Service
	services map[string]*corev1.Service
	ingress  *networkingv1.Ingress
	class    *networkingv1.IngressClass
	expect   expectation
}

// expectation has bindings as "service:port group [target type] [selector]",
// and events as "Reason: words of the message".
type expectation struct {
	Bindings []string `json:"bindings"`
	Events   []string `json:"events"`
	Unsure   bool     `json:"unsure"`
}

func read(g *WithT, file string) manifests {
	text, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	m := manifests{services: map[string]*corev1.Service{}}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var of metav1.TypeMeta
		g.Expect(yaml.Unmarshal(document, &of)).To(Succeed())
		var into any
		switch of.Kind {
		case "Service":
			m.service = &corev1.Service{}
			into = m.service
		case "Ingress":
			m.ingress = &networkingv1.Ingress{}
			into = m.ingress
		case "IngressClass":
			m.class = &networkingv1.IngressClass{}
			into = m.class
		default:
			into = &m.expect
		}
		g.Expect(yaml.UnmarshalStrict(document, into)).To(Succeed(), "%s", document)
		if of.Kind == "Service" {
			m.services[m.service.Name] = m.service
		}
	}
	return m
}

func check(t *testing.T, folder string, request func(manifests) managed.Request) {
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(len(files)).To(BeNumerically(">=", 20))
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			g := NewWithT(t)
			m := read(g, file)
			got := request(m)
			bindings := []string{}
			for _, w := range got.Bindings {
				bindings = append(bindings, describe(w))
			}
			g.Expect(bindings).To(HaveExactElements(anys(m.expect.Bindings)...))
			g.Expect(got.Unsure).To(Equal(m.expect.Unsure), "unsure")
			g.Expect(got.Problems).To(HaveLen(len(m.expect.Events)), "%v", got.Problems)
			for i, want := range m.expect.Events {
				reason, words, _ := strings.Cut(want, ": ")
				g.Expect(got.Problems[i].Reason).To(BeEquivalentTo(reason))
				g.Expect(got.Problems[i].Message).To(ContainSubstring(words))
			}
		})
	}
}

func describe(w managed.Wanted) string {
	words := []string{w.Service + ":" + w.Port.String(), w.Group}
	if w.TargetType != nil {
		words = append(words, string(*w.TargetType))
	}
	if w.NodeSelector != nil {
		words = append(words, metav1.FormatLabelSelector(w.NodeSelector))
	}
	return strings.Join(words, " ")
}

func anys(list []string) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}

func TestAwkwardServices(t *testing.T) {
	check(t, "service", func(m manifests) managed.Request { return managed.OfService(m.service) })
}

func TestAwkwardIngresses(t *testing.T) {
	check(t, "ingress", func(m manifests) managed.Request { return managed.OfIngress(m.ingress, m.class, m.services) })
}

func wanted(service string, port intstr.IntOrString, group string) managed.Wanted {
	w := managed.Wanted{Service: service, Port: port}
	w.Group = group
	return w
}

func TestNames(t *testing.T) {
	g := NewWithT(t)
	http := intstr.FromString("http")
	web := wanted("web", http, "my-group")
	g.Expect(web.Name()).To(Equal("web-http-7bd231f9b2"), "the same in every cluster and version")

	instances := web
	instances.TargetType = new(v1beta1.TargetTypeInstance)
	long := strings.Repeat("a", 63)
	seen := map[string]bool{}
	for _, w := range []managed.Wanted{
		web, instances,
		wanted("web", http, "other-group"),
		wanted("web", intstr.FromInt32(80), "my-group"),
		wanted("web-http", intstr.FromInt32(80), "my-group"),
		wanted("web", intstr.FromString("http-80"), "my-group"),
		wanted(long, http, "my-group"),
		wanted(long, intstr.FromString("https"), "my-group"),
		wanted(strings.Repeat("a", 51)+"-b", http, "my-group"),
	} {
		g.Expect(w.Name()).To(MatchRegexp(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`))
		g.Expect(w.Name()).NotTo(ContainSubstring("--"))
		g.Expect(seen).NotTo(HaveKey(w.Name()), fmt.Sprint(w))
		seen[w.Name()] = true
	}
}
