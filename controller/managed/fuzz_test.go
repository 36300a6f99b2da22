package managed_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/managed"
)

// seeds are annotations that are easily got wrong.
var seeds = []string{
	"web", "http: web", "web:http: [a, b]", "web: a", "api:: a", ":80: a", "80: a", "web:080: a", "web:-1: a",
	"http: {group: a, nodeSelector: {matchLabels: {a: b}}}", "&a [*a]", "<<: *a", "!x", "---\n---\n", "? [a]\n: b", "- - -", "{}", "[]", "http: {}", "\x00",
	"a: {group: arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6bc24d8a067}",
}

// Whatever stands in an annotation, it is an event at worst.
func FuzzService(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := service(inGroup(text))
		checkRequest(t, text, managed.OfService(s))
	})
}

// And whatever an Ingress names beside it.
func FuzzIngress(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "http", int32(0), "alb")
		f.Add(seed, "use-annotation", int32(0), "alb")
		f.Add(seed, "", int32(80), "")
	}
	f.Fuzz(func(t *testing.T, text, name string, number int32, class string) {
		i := ingress("shop", map[string]string{managed.TargetGroupsAnnotation: text})
		delete(i.Annotations, "kubernetes.io/ingress.class")
		i.Spec.IngressClassName = &class
		i.Spec.Rules = []networkingv1.IngressRule{{IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "api", Port: networkingv1.ServiceBackendPort{Name: name, Number: number}},
			}}},
		}}}}
		api := service(nil)
		api.Name = "api"
		ours := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}, Spec: networkingv1.IngressClassSpec{Controller: managed.OwnClassController}}
		if class != ours.Name {
			ours = nil
		}
		got := managed.OfIngress(i, ours, map[string]*corev1.Service{"web": service(nil), "api": api})
		if ours == nil && len(got.Bindings) > 0 {
			t.Errorf("without a class wants %v", got.Bindings)
		}
		if class != "" {
			checkRequest(t, text, got)
		}
	})
}

func checkRequest(t *testing.T, text string, got managed.Request) {
	t.Helper()
	if len(got.Bindings)+len(got.Problems) == 0 && strings.TrimSpace(text) != "" {
		t.Errorf("%q leads to nothing at all", text)
	}
	if got.Unsure != (len(got.Problems) > 0) {
		t.Errorf("unsure is %v with %v", got.Unsure, got.Problems)
	}
	names := map[string]bool{}
	for _, w := range got.Bindings {
		if w.Service != "web" && w.Service != "api" || w.Port.String() != "http" || w.Group == "" {
			t.Errorf("wants %v", w)
		}
		if names[w.Name()] {
			t.Errorf("wants %s twice", w.Name())
		}
		names[w.Name()] = true
	}
}
