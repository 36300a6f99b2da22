package binding

import (
	"net/netip"
	"testing"
	"time"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

// inVPC lets the group be in a VPC of these addresses.
func (w *world) inVPC(cidr string) {
	w.t.Helper()
	w.Expect(w.sim.ConfigureGroup(w.group.ARN, func(s *elbsim.Settings) {
		s.VPCCIDRs = []netip.Prefix{netip.MustParsePrefix(cidr)}
	})).To(Succeed())
}

func (w *world) setsCrossZone(value string) {
	w.t.Helper()
	key := "load_balancing.cross_zone.enabled"
	_, err := w.sim.Client("somebody").ModifyTargetGroupAttributes(w.t.Context(), &elbv2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: &w.group.ARN, Attributes: []types.TargetGroupAttribute{{Key: &key, Value: &value}},
	})
	w.Expect(err).NotTo(HaveOccurred())
}

// zones are those of the registered targets, by key.
func (w *world) zones() map[string]string {
	zones := map[string]string{}
	for _, s := range w.sim.Targets(w.group.ARN) {
		if s.Registered() {
			zones[s.Target.Key()] = s.Target.Zone
		}
	}
	return zones
}

var loadBalancers = map[string]elbsim.Group{"network": {Protocol: "TCP"}, "application": {Protocol: "HTTP"}}

// Two clusters share a group that is in the VPC of one of them. Should AWS want
// the zone for a deregistration, it has it, also from a new process.
func TestGroupOfAnotherVPC(t *testing.T) {
	for name, group := range loadBalancers {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, group)
			w.inVPC("10.0.0.0/16")
			w.sim.Configure(func(s *elbsim.Settings) { s.ZonedDeregistration = true })
			inside, outside := w.cluster("inside"), w.cluster("outside")
			inside.runs("web", "10.0.0.1")
			outside.runs("web", "10.1.0.1", "10.1.0.2")
			inside.binds("web")
			outside.binds("web")
			inside.reconciles("web")
			outside.reconciles("web")
			inside.expectReconciled("web")
			outside.expectReconciled("web")
			w.Expect(w.zones()).To(Equal(map[string]string{"10.0.0.1:8080": "us-east-1a", "10.1.0.1:8080": "all", "10.1.0.2:8080": "all"}))
			w.Expect(w.sim.Count("inside", "RegisterTargets")).To(Equal(1))
			w.Expect(w.sim.Count("outside", "RegisterTargets")).To(Equal(2), "one is refused")

			outside.scales("web", "10.1.0.2", "10.1.0.3")
			outside.reconciles("web")
			w.Expect(w.sim.Count("outside", "RegisterTargets")).To(Equal(3), "what is known is not asked again")
			w.expectGroup(at8080("10.0.0.1", "10.1.0.2", "10.1.0.3")...)

			outside.restarts()
			outside.scales("web", "10.1.0.4")
			outside.reconciles("web")
			w.expectGroup(at8080("10.0.0.1", "10.1.0.4")...)
			w.Expect(w.sim.Count("outside", "RegisterTargets")).To(BeNumerically("<=", 5))

			outside.restarts()
			outside.deletes("web")
			outside.settles("web")
			outside.expectGone("web")
			w.expectGroup(at8080("10.0.0.1")...)
			inside.expectRemovals(0)
		})
	}
}

// One Service has pods on both sides, as with nodes elsewhere.
func TestPodsInsideAndOutsideTheVPC(t *testing.T) {
	w := newWorld(t)
	w.inVPC("10.0.0.0/16")
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "192.168.7.1", "10.0.0.2", "192.168.7.2")
	east.binds("web")
	east.reconciles("web")
	east.expectReconciled("web")
	w.Expect(w.zones()).To(Equal(map[string]string{
		"10.0.0.1:8080": "us-east-1a", "10.0.0.2:8080": "us-east-1a", "192.168.7.1:8080": "all", "192.168.7.2:8080": "all",
	}))
	before := w.sim.Count("east", "RegisterTargets")
	east.scales("web", "10.0.0.3", "192.168.7.3")
	east.reconciles("web")
	w.expectGroup(at8080("10.0.0.3", "192.168.7.3")...)
	w.Expect(w.sim.Count("east", "RegisterTargets")).To(Equal(before + 1))
}

// The account says nothing of the VPC: it may be shared, or a peer's.
func TestGroupOfAnotherAccountInItsVPCAndInOurs(t *testing.T) {
	for cidr, zone := range map[string]string{"10.0.0.0/16": "us-east-1a", "10.1.0.0/16": "all"} {
		t.Run(zone, func(t *testing.T) {
			w, _ := newAbroad(t)
			w.inVPC(cidr)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web", withRole(otherRole, "of-east"))
			east.reconciles("web")
			east.expectReconciled("web")
			w.Expect(w.zones()).To(Equal(map[string]string{"10.0.0.1:8080": zone}))
			east.deletes("web")
			east.reconciles("web")
			east.expectGone("web")
			w.expectGroup()
		})
	}
}

// With cross-zone load balancing off, a group of an Application Load Balancer
// takes no address outside its VPC without a zone of its own: that is told of,
// and the others are registered. Groups of other kinds take it.
func TestAddressesOutsideTheVPCWithCrossZoneOff(t *testing.T) {
	t.Run("application", func(t *testing.T) {
		w := newWorld(t, loadBalancers["application"])
		w.inVPC("10.0.0.0/16")
		w.setsCrossZone("false")
		east := w.cluster("east")
		east.runs("web", "10.0.0.1", "10.1.0.1")
		east.binds("web")
		east.reconciles("web")
		w.Expect(w.zones()).To(Equal(map[string]string{"10.0.0.1:8080": "us-east-1a"}))
		east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonTargetsRefused, "1 of 2", "10.1.0.1:8080",
			"outside the VPC of the group", "cross-zone load balancing is disabled on this target group", "let the group's attribute load_balancing.cross_zone.enabled be true")
		east.expectWaiting("web", map[string]int{"refused": 1})

		w.setsCrossZone("true")
		w.passes(30 * time.Second)
		east.reconciles("web")
		east.expectReconciled("web")
		w.Expect(w.zones()).To(HaveKeyWithValue("10.1.0.1:8080", "all"))
		east.expectRemovals(0)
	})
	t.Run("network", func(t *testing.T) {
		w := newWorld(t, loadBalancers["network"])
		w.inVPC("10.0.0.0/16")
		w.setsCrossZone("false")
		east := w.cluster("east")
		east.runs("web", "10.0.0.1", "10.1.0.1")
		east.binds("web")
		east.reconciles("web")
		east.expectReconciled("web")
		w.Expect(w.zones()).To(Equal(map[string]string{"10.0.0.1:8080": "us-east-1a", "10.1.0.1:8080": "all"}))
	})
}

// Deletion takes back what was claimed and refused.
func TestABindingWithRefusedAddressesCanBeDeleted(t *testing.T) {
	w := newWorld(t, loadBalancers["application"])
	w.inVPC("10.0.0.0/16")
	w.setsCrossZone("false")
	east := w.cluster("east")
	east.runs("web", "10.0.0.1", "10.1.0.1")
	east.binds("web")
	east.reconciles("web")
	east.deletes("web")
	east.settles("web")
	east.expectGone("web")
	w.expectGroup()
	w.Expect(w.records()).To(BeEmpty())
}
