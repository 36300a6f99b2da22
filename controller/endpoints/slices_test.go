package endpoints

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func find(service *corev1.Service, family string, all ...discoveryv1.EndpointSlice) (Want, error) {
	return choose(service, Query{Family: family}, all...)
}

func choose(service *corev1.Service, q Query, all ...discoveryv1.EndpointSlice) (Want, error) {
	list := func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
		list.(*discoveryv1.EndpointSliceList).Items = all
		return nil
	}
	r := Resolver{Reader: interceptor.NewClient(nil, interceptor.Funcs{List: list})}
	want, err := r.addresses(context.Background(), q, service, service.Spec.Ports[0])
	return want, errors.Unwrap(err)
}

func TestLiveEndpoints(t *testing.T) {
	manual := func(s discoveryv1.EndpointSlice) discoveryv1.EndpointSlice {
		delete(s.Labels, discoveryv1.LabelManagedBy)
		return s
	}
	v6 := func(s discoveryv1.EndpointSlice) discoveryv1.EndpointSlice {
		s.AddressType = discoveryv1.AddressTypeIPv6
		return s
	}
	unset := discoveryv1.Endpoint{Addresses: []string{"10.0.0.9"}}
	for _, c := range []struct {
		name    string
		family  string
		slices  []discoveryv1.EndpointSlice
		targets []string
		skipped []Skipped
	}{
		{
			name:    "ready endpoints",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1"), notReady(pod("10.0.0.6", "2")))},
			targets: []string{"10.0.0.5:8080"},
		},
		{
			name:    "unset conditions mean ready and not terminating, and a Pod is not needed",
			slices:  []discoveryv1.EndpointSlice{manual(slice("a", 8080, unset))},
			targets: []string{"10.0.0.9:8080"},
		},
		{
			name: "only the first address counts",
			slices: []discoveryv1.EndpointSlice{slice("a", 8080, discoveryv1.Endpoint{
				Addresses: []string{"10.0.0.5", "10.0.0.6"},
			})},
			targets: []string{"10.0.0.5:8080"},
		},
		{name: "no slices", targets: []string{}},
		{
			name:    "case 21: several slices",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, pod("10.0.0.6", "2"))},
			targets: []string{"10.0.0.5:8080", "10.0.0.6:8080"},
		},
		{
			name:    "case 21: an endpoint in two slices is one target",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, pod("10.0.0.5", "1"))},
			targets: []string{"10.0.0.5:8080"},
		},
		{
			name:    "case 21: an endpoint that moves is live if either slice says so",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, notReady(pod("10.0.0.5", "1")))},
			targets: []string{"10.0.0.5:8080"},
		},
		{
			name:    "case 26: terminating endpoints leave, although they serve",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, dying(pod("10.0.0.5", "1")), pod("10.0.0.6", "2"))},
			targets: []string{"10.0.0.6:8080"},
		},
		{
			name:    "case 26: a Pod that terminates in one slice is not live in another",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, dying(pod("10.0.0.5", "1")))},
			targets: []string{},
		},
		{
			name: "case 26: ready and terminating, as publishNotReadyAddresses makes it",
			slices: []discoveryv1.EndpointSlice{slice("a", 8080,
				discoveryv1.Endpoint{Addresses: []string{"10.0.0.5"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true), Terminating: new(true)}},
				discoveryv1.Endpoint{Addresses: []string{"10.0.0.6"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true), Serving: new(false)}},
			)},
			targets: []string{"10.0.0.6:8080"},
		},
		{
			name:    "an address passed on from a terminating Pod",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, dying(pod("10.0.0.5", "1")), pod("10.0.0.5", "2"))},
			targets: []string{"10.0.0.5:8080"},
		},
		{
			name:    "IPv4 of a dual-stack service",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), v6(slice("b", 8080, pod("2001:db8::5", "1")))},
			targets: []string{"10.0.0.5:8080"},
		},
		{
			name: "IPv6 of a dual-stack service", family: "ipv6",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), v6(slice("b", 8080, pod("2001:DB8:0::5", "1")))},
			targets: []string{"[2001:db8::5]:8080"},
		},
		{
			name: "no endpoints of the family", family: "ipv6",
			slices:  []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1"))},
			targets: []string{},
			skipped: []Skipped{{"service web/shop", "it has no IPv6 endpoints, and the target group takes no others"}},
		},
		{
			name: "an IPv4 address in an IPv6 slice", family: "ipv6",
			slices:  []discoveryv1.EndpointSlice{v6(slice("a", 8080, pod("::ffff:10.0.0.5", "1")))},
			targets: []string{},
			skipped: []Skipped{{"endpoint ::ffff:10.0.0.5", "its address is not of the family of the target group"}},
		},
		{
			name: "FQDN slices",
			slices: []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), func() discoveryv1.EndpointSlice {
				s := manual(slice("b", 8080, discoveryv1.Endpoint{Addresses: []string{"shop.example.com"}}))
				s.AddressType = discoveryv1.AddressTypeFQDN
				return s
			}()},
			targets: []string{"10.0.0.5:8080"},
			skipped: []Skipped{{"endpoint slice b", "its addresses are of type FQDN; targets need an IP address"}},
		},
		{
			name: "odd addresses are named once, in order",
			slices: []discoveryv1.EndpointSlice{
				slice("a", 8080, pod("fe80::2%eth0", "2"), pod("fe80::1%eth0", "1")),
				slice("b", 8080, pod("fe80::2%eth0", "2")),
			},
			targets: []string{},
			skipped: []Skipped{
				{"endpoint fe80::1%eth0", "its address is not of the family of the target group"},
				{"endpoint fe80::2%eth0", "its address is not of the family of the target group"},
			},
		},
		{
			name: "a port without a number",
			slices: []discoveryv1.EndpointSlice{func() discoveryv1.EndpointSlice {
				s := manual(slice("a", 0, pod("10.0.0.5", "1")))
				s.Ports[0].Port = nil
				return s
			}()},
			targets: []string{},
			skipped: []Skipped{{"endpoint slice a", "port http (80) has no number in it"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			want, err := find(shop(), c.family, c.slices...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(names(want.Targets)).To(Equal(c.targets))
			g.Expect(want.Skipped).To(Equal(c.skipped))
		})
	}
}

// A named target port may differ from Pod to Pod; the slices have it resolved.
func TestNamedTargetPort(t *testing.T) {
	g := NewWithT(t)
	service := shop(func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromString("web") })

	want, err := find(service, "ipv4", slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 9090, pod("10.0.0.6", "2")))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080", "10.0.0.6:9090"}))

	noPort := slice("c", 8080, pod("10.0.0.7", "3"))
	noPort.Ports = nil
	want, err = find(service, "ipv4", slice("a", 8080, pod("10.0.0.5", "1")), noPort)
	g.Expect(err).NotTo(HaveOccurred(), "some Pods may lack the port")
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:8080"}))

	// Conditions carry this message: it names the same slice in whatever order.
	later := *noPort.DeepCopy()
	later.Name = "d"
	_, err = find(service, "ipv4", later, noPort)
	g.Expect(err).To(MatchError(ContainSubstring(`endpoint slice c has endpoints but not port http (80); if it stays so, no Pod has the target port "web"`)))
}

// Case 25: while the EndpointSlice controller rewrites the slices for new
// ports, endpoints may be in no slice, so nothing is known; after the last
// slice all new keys are wanted at once.
func TestServicePortsChange(t *testing.T) {
	moved := func(port int32, name string, all ...discoveryv1.EndpointSlice) []discoveryv1.EndpointSlice {
		for i := range all {
			all[i].Ports = []discoveryv1.EndpointPort{{Name: &name, Port: &port}}
		}
		return all
	}
	two := func() []discoveryv1.EndpointSlice {
		return []discoveryv1.EndpointSlice{slice("a", 8080, pod("10.0.0.5", "1")), slice("b", 8080, pod("10.0.0.6", "2"))}
	}
	for _, c := range []struct {
		name    string
		service *corev1.Service
		after   []discoveryv1.EndpointSlice
		targets []string
	}{
		{
			name:    "case 25: target port",
			service: shop(func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromInt32(9090) }),
			after:   moved(9090, "http", two()...),
			targets: []string{"10.0.0.5:9090", "10.0.0.6:9090"},
		},
		{
			name:    "case 25: name of the port",
			service: shop(func(s *corev1.Service) { s.Spec.Ports[0].Name = "web" }),
			after:   moved(8080, "web", two()...),
			targets: []string{"10.0.0.5:8080", "10.0.0.6:8080"},
		},
		{
			name: "case 25: name of the port, with a named target port",
			service: shop(func(s *corev1.Service) {
				s.Spec.Ports[0].Name, s.Spec.Ports[0].TargetPort = "web", intstr.FromString("main")
			}),
			after:   moved(8080, "web", two()...),
			targets: []string{"10.0.0.5:8080", "10.0.0.6:8080"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			before := two()
			half := []discoveryv1.EndpointSlice{c.after[0], before[1]}
			for _, lagging := range [][]discoveryv1.EndpointSlice{before, half} {
				_, err := find(c.service, "ipv4", lagging...)
				g.Expect(err).To(MatchError(ContainSubstring("is behind the service")))
			}
			want, err := find(c.service, "ipv4", c.after...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(names(want.Targets)).To(Equal(c.targets))
		})
	}
}

// Slices that people or other controllers write need not agree with the
// Service in what they have beyond the port.
func TestForeignSlicesAreNotStale(t *testing.T) {
	g := NewWithT(t)
	s := slice("a", 9090, pod("10.0.0.5", "1"))
	s.Labels[discoveryv1.LabelManagedBy] = "endpointslicemirroring-controller.k8s.io"
	s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: new("metrics"), Port: new(int32(9100))})

	want, err := find(shop(), "ipv4", s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(names(want.Targets)).To(Equal([]string{"10.0.0.5:9090"}))
}

// The EndpointSlice controller keeps one slice without ports for a Service
// without endpoints: that is an answer, and its pods have left.
func TestAServiceWithoutEndpointsWantsNothing(t *testing.T) {
	placeholder := slice("a", 8080)
	placeholder.Ports = []discoveryv1.EndpointPort{}
	want, err := find(shop(), "ipv4", placeholder)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(want.Targets).To(BeEmpty())

	_, err = find(shop(), "ipv4", placeholder, slice("b", 9090, pod("10.0.0.5", "1")))
	g.Expect(err).To(MatchError(ContainSubstring("is behind the service")), "beside another slice it may be one that is being rewritten")
}

// Case 21: whatever slice an endpoint moves to, and in whatever order slices
// are listed, the answer is the same. A move adds to the new slice first.
func TestMovingSlicesDoNotFlap(t *testing.T) {
	g := NewWithT(t)
	random := rand.New(rand.NewPCG(21, 1))
	all := manySlices(4, 10)
	expected, err := find(shop(), "ipv4", all...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(expected.Targets).To(HaveLen(40))

	for range 500 {
		from, to := &all[random.IntN(len(all))], &all[random.IntN(len(all))]
		if from == to || len(from.Endpoints) == 0 {
			continue
		}
		i := random.IntN(len(from.Endpoints))
		to.Endpoints = append(to.Endpoints, from.Endpoints[i])
		between, err := find(shop(), "ipv4", all...)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(between).To(Equal(expected))

		from.Endpoints = append(from.Endpoints[:i:i], from.Endpoints[i+1:]...)
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		after, err := find(shop(), "ipv4", all...)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(Equal(expected))
	}
}

func manySlices(n, each int) []discoveryv1.EndpointSlice {
	all := make([]discoveryv1.EndpointSlice, n)
	for i := range all {
		all[i] = slice(fmt.Sprintf("shop-%02d", i), 8080)
		for j := range each {
			k := i*each + j
			all[i].Endpoints = append(all[i].Endpoints, pod(fmt.Sprintf("10.0.%d.%d", k/200, k%200+1), fmt.Sprint(k)))
		}
	}
	return all
}

func BenchmarkFromSlices1500EndpointsIn15Slices(b *testing.B) {
	all := manySlices(15, 100)
	b.ReportAllocs()
	for b.Loop() {
		want, err := find(shop(), "ipv4", all...)
		if err != nil || len(want.Targets) != 1500 {
			b.Fatal(err, len(want.Targets))
		}
	}
}
