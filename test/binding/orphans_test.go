package binding

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/binding"
	"target-ownership-controller/test/elbsim"
)

// sweeps looks for orphans twice, and lets calls of the name fail meanwhile.
// It ends when a third sweep begins.
func (s *site) sweeps(f fault, failing string) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), patience)
	defer stop()
	begun := 0
	s.disturbs(func(call string) fault {
		switch call {
		case "Query, eventually consistent":
			if begun++; begun == 3 {
				stop()
			}
		case failing:
			return f
		}
		return nil
	})
	defer s.calm()
	orphans := binding.Orphans{Reconciler: s.Reconciler, Period: time.Millisecond}
	s.Expect(orphans.Start(ctx)).To(Succeed())
	s.Expect(begun).To(Equal(3))
}

// loses the binding while no controller runs.
func (s *site) loses(name string) {
	s.t.Helper()
	s.edits(name, func(b *v1beta1.TargetGroupBinding) { b.Finalizers = nil })
	s.deletes(name)
	s.expectGone(name)
}

func TestCase13RecordsWithoutABindingAreFinished(t *testing.T) {
	w := newWorld(t)
	other, err := w.sim.CreateGroup(elbsim.Group{Name: "other", Protocol: "TCP", Port: 80, VPCID: "vpc-1", TargetType: "ip"})
	w.Expect(err).NotTo(HaveOccurred())
	east := w.cluster("east")
	for i, name := range []string{"stays", "gone", "moved"} {
		east.runs(name, pods(i, 1)...)
		east.binds(name)
		east.reconciles(name)
	}
	east.loses("gone")
	east.loses("moved")
	east.binds("moved", toGroup(other.ARN, ""))
	east.restarts()
	w.expectGroup("10.0.0.1:8080", "10.1.0.1:8080", "10.2.0.1:8080")

	east.sweeps(nil, "")
	w.expectGroup("10.0.0.1:8080")
	east.expectRecord("stays", at8080("10.0.0.1"), nil)
	east.reconciles("moved")
	w.Expect(w.sim.Registered(other.ARN)).To(ConsistOf("10.2.0.1:8080"))
}

// What cannot be told is no orphan.
func TestCase13FailedReadsMakeNoOrphans(t *testing.T) {
	for name, f := range map[string]fault{
		"forbidden": kubernetesSays(403, "Forbidden"), "timeout": timeout, "404 of a proxy": answer(404, "404 page not found"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			east := w.cluster("east")
			east.runs("web", "10.0.0.1")
			east.binds("web")
			east.reconciles("web")
			east.restarts()
			east.sweeps(f, "live GET targetgroupbindings")
			w.expectGroup("10.0.0.1:8080")
			east.expectRecord("web", at8080("10.0.0.1"), nil)
		})
	}
}

// The status still names the old group of a name, and the API server refuses
// to change it: what this process has just put into the new one is no orphan.
func TestASweepLeavesAloneWhatIsWorkedOn(t *testing.T) {
	w := newWorld(t)
	east := w.cluster("east")
	east.runs("web", "10.0.0.1")
	east.binds("web", toGroup("", "web"))
	east.reconciles("web")
	w.deletesGroup()
	w.group = w.creates(elbsim.Group{})
	east.restarts()
	east.fails(kubernetesSays(403, "Forbidden"), "PATCH targetgroupbindings/status")
	_, err := east.try(t.Context(), east.key("web"))
	w.Expect(err).To(HaveOccurred(), "the status")
	w.expectGroup("10.0.0.1:8080")
	east.sweeps(nil, "")
	w.expectGroup("10.0.0.1:8080")
}
