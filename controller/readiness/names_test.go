package readiness

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
)

func bindingOf(k kind.Kind, name, service string, port intstr.IntOrString) Binding {
	return Binding{k, &v1beta1.TargetGroupBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       v1beta1.TargetGroupBindingSpec{ServiceRef: v1beta1.ServiceReference{Name: service, Port: port}},
	}}
}

func TestGate(t *testing.T) {
	long := strings.Repeat("a", 51) + "." + strings.Repeat("b", 201)
	for name, c := range map[string]struct {
		kind kind.Kind
		name string
		want string
	}{
		"target group binding":        {kind.TargetGroupBinding, "web", "target-health.elbv2.k8s.aws/web"},
		"shared target group binding": {kind.SharedTargetGroupBinding, "web", "target-health.ownership.elbv2.k8s.aws/web"},
		"with dots":                   {kind.TargetGroupBinding, "web.v2", "target-health.elbv2.k8s.aws/web.v2"},
		"as long as may be":           {kind.TargetGroupBinding, strings.Repeat("a", 63), "target-health.elbv2.k8s.aws/" + strings.Repeat("a", 63)},
		"one too long":                {kind.TargetGroupBinding, strings.Repeat("a", 64), "target-health.elbv2.k8s.aws/" + strings.Repeat("a", 52) + "-ffe054fe7a"},
		"cut at a dot":                {kind.TargetGroupBinding, long, "target-health.elbv2.k8s.aws/" + strings.Repeat("a", 51) + "-6b3303d51f"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			gate := string(Gate(c.kind, c.name))
			g.Expect(gate).To(Equal(c.want))
			g.Expect(validation.IsQualifiedName(gate)).To(BeEmpty(), "the API server takes it")
			g.Expect(IsGate(corev1.PodConditionType(gate))).To(BeTrue())
		})
	}
}

// Two long names that begin alike have gates of their own.
func TestLongNamesStayApart(t *testing.T) {
	g := NewWithT(t)
	begin := strings.Repeat("a", 80)
	g.Expect(Gate(kind.TargetGroupBinding, begin+"b")).NotTo(Equal(Gate(kind.TargetGroupBinding, begin+"c")))
}

func TestOthersGates(t *testing.T) {
	g := NewWithT(t)
	for _, t := range []corev1.PodConditionType{
		"example.com/ready", corev1.PodReady, "target-health.elbv2.k8s.aws", "target-health.elbv2.k8s.awsome/web", "",
	} {
		g.Expect(IsGate(t)).To(BeFalse(), "%s", t)
	}
}

func TestHas(t *testing.T) {
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "admin", Port: 81}}}}
	ownedBy := func(owners ...metav1.OwnerReference) func(*v1beta1.TargetGroupBinding) {
		return func(b *v1beta1.TargetGroupBinding) { b.OwnerReferences = owners }
	}
	labelled := func(labels map[string]string) func(*v1beta1.TargetGroupBinding) {
		return func(b *v1beta1.TargetGroupBinding) { b.Labels = labels }
	}
	shop := metav1.OwnerReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: "shop"}
	stand := metav1.OwnerReference{APIVersion: "networking.k8s.io/v1", Kind: "Ingress", Name: "stand"}
	for name, c := range map[string]struct {
		gate    corev1.PodConditionType
		made    func(*v1beta1.TargetGroupBinding)
		service *corev1.Service
		want    bool
	}{
		"own name":                           {gate: "target-health.elbv2.k8s.aws/web-1", want: true},
		"name of another":                    {gate: "target-health.elbv2.k8s.aws/web-2"},
		"name of the other kind":             {gate: "target-health.ownership.elbv2.k8s.aws/web-1"},
		"legacy":                             {"target-health.alb.ingress.k8s.aws/shop_web_http", ownedBy(shop), service, true},
		"legacy, two Ingresses":              {"target-health.alb.ingress.k8s.aws/shop_web_http", ownedBy(stand, shop), service, true},
		"legacy, by number":                  {"target-health.alb.ingress.k8s.aws/shop_web_80", ownedBy(shop), service, true},
		"legacy, by number, service unknown": {"target-health.alb.ingress.k8s.aws/shop_web_80", ownedBy(shop), nil, false},
		"legacy, of another port":            {"target-health.alb.ingress.k8s.aws/shop_web_81", ownedBy(shop), service, false},
		"legacy, of another service":         {"target-health.alb.ingress.k8s.aws/shop_api_http", ownedBy(shop), service, false},
		"legacy, of another ingress":         {"target-health.alb.ingress.k8s.aws/fair_web_http", ownedBy(shop), service, false},
		"legacy, made for nobody":            {"target-health.alb.ingress.k8s.aws/shop_web_http", ownedBy(), service, false},
		"legacy, made for a service":         {"target-health.alb.ingress.k8s.aws/shop_web_http", ownedBy(metav1.OwnerReference{APIVersion: "v1", Kind: "Service", Name: "shop"}), service, false},
		"legacy, of a kind called Ingress":   {"target-health.alb.ingress.k8s.aws/shop_web_http", ownedBy(metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Ingress", Name: "shop"}), service, false},
		"legacy, by LBC":                     {"target-health.alb.ingress.k8s.aws/shop_web_http", labelled(map[string]string{stackNamespace: "shop", stackName: "shop"}), service, true},
		"legacy, by LBC for elsewhere":       {"target-health.alb.ingress.k8s.aws/shop_web_http", labelled(map[string]string{stackNamespace: "fair", stackName: "shop"}), service, false},
		"legacy, by LBC for a group":         {"target-health.alb.ingress.k8s.aws/shop_web_http", labelled(map[string]string{"ingress.k8s.aws/stack": "shop"}), service, false},
		"legacy in two parts":                {"target-health.alb.ingress.k8s.aws/shop_web", ownedBy(shop), service, false},
		"legacy without names":               {"target-health.alb.ingress.k8s.aws/__", ownedBy(), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := bindingOf(kind.TargetGroupBinding, "web-1", "web", intstr.FromString("http"))
			if c.made != nil {
				c.made(b.TargetGroupBinding)
			}
			NewWithT(t).Expect(b.Has(c.gate, c.service)).To(Equal(c.want))
		})
	}
}

func TestGates(t *testing.T) {
	instance, ip := v1beta1.TargetTypeInstance, v1beta1.TargetTypeIP
	of := func(name string, change func(*v1beta1.TargetGroupBinding)) Binding {
		b := bindingOf(kind.TargetGroupBinding, name, "web", intstr.FromInt32(80))
		if change != nil {
			change(b.TargetGroupBinding)
		}
		return b
	}
	selecting := func(name string, selector map[string]string) corev1.Service {
		return corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.ServiceSpec{Selector: selector}}
	}
	web := selecting("web", map[string]string{"app": "web"})
	external := web
	external.Spec.Type = corev1.ServiceTypeExternalName
	elsewhere := web
	elsewhere.Namespace = "fair"
	const gate = corev1.PodConditionType("target-health.elbv2.k8s.aws/web")
	for name, c := range map[string]struct {
		bindings []Binding
		services []corev1.Service
		want     []corev1.PodConditionType
	}{
		"selected":           {[]Binding{of("web", nil)}, []corev1.Service{web}, []corev1.PodConditionType{gate}},
		"of addresses":       {[]Binding{of("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetType = &ip })}, []corev1.Service{web}, []corev1.PodConditionType{gate}},
		"of nodes":           {[]Binding{of("web", func(b *v1beta1.TargetGroupBinding) { b.Spec.TargetType = &instance })}, []corev1.Service{web}, nil},
		"being deleted":      {[]Binding{of("web", func(b *v1beta1.TargetGroupBinding) { b.DeletionTimestamp = new(metav1.Now()) })}, []corev1.Service{web}, nil},
		"other pods":         {[]Binding{of("web", nil)}, []corev1.Service{selecting("web", map[string]string{"app": "api"})}, nil},
		"no selector":        {[]Binding{of("web", nil)}, []corev1.Service{selecting("web", nil)}, nil},
		"external name":      {[]Binding{of("web", nil)}, []corev1.Service{external}, nil},
		"service missing":    {[]Binding{of("web", nil)}, nil, nil},
		"service of another": {[]Binding{of("web", nil)}, []corev1.Service{selecting("api", map[string]string{"app": "web"})}, nil},
		"service elsewhere":  {[]Binding{of("web", nil)}, []corev1.Service{elsewhere}, nil},
		"no binding":         {nil, []corev1.Service{web}, nil},
		"two bindings, both kinds": {
			[]Binding{bindingOf(kind.SharedTargetGroupBinding, "web", "web", intstr.FromInt32(80)), of("web", nil), of("api", nil)},
			[]corev1.Service{web},
			[]corev1.PodConditionType{"target-health.elbv2.k8s.aws/api", gate, "target-health.ownership.elbv2.k8s.aws/web"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(Gates(map[string]string{"app": "web", "version": "2"}, c.bindings, c.services)).To(Equal(c.want))
		})
	}
}
