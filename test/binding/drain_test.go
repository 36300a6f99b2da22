package binding

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/elbsim"
)

func TestADrainedClusterLeavesTheGroupsThatItShares(t *testing.T) {
	w := newWorld(t)
	own := w.creates(elbsim.Group{Name: "own"})
	east, west := w.cluster("east"), w.cluster("west")
	west.runs("web", "10.0.0.2", "10.0.0.3")
	west.binds("web")
	west.reconciles("web")
	east.runs("web", "10.0.0.1", "10.0.0.2")
	east.binds("web")
	east.binds("own", exclusive, toGroup(own.ARN, ""), toService("web"))
	east.settles("web")
	east.settles("own")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3")...)

	east.gate.drained = true
	east.settles("web")
	east.settles("own")
	w.expectGroup(at8080("10.0.0.2", "10.0.0.3")...)
	east.expectRecord("web", nil, nil)
	east.expectReady("web", metav1.ConditionFalse, v1beta1.ReasonClusterDrained, "drains", "Active")
	w.Expect(w.sim.Registered(own.ARN)).To(ConsistOf(anys(at8080("10.0.0.1", "10.0.0.2"))...))
	east.expectReconciled("own")

	// Endpoints that come meanwhile stay out.
	east.scales("web", "10.0.0.1", "10.0.0.4")
	east.settles("web")
	w.expectGroup(at8080("10.0.0.2", "10.0.0.3")...)

	east.gate.drained = false
	east.settles("web")
	w.expectGroup(at8080("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4")...)
	east.expectReconciled("web")
}
