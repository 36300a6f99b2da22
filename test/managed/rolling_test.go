package managed

import (
	"cmp"
	"fmt"
	"testing"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/controller/managed"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// While all pods of a Deployment are replaced, the switch and the groups are
// changed again and again, and the controller is restarted. What is in the
// groups and in the table in the end is what is asked for, beside the target of
// somebody else.
func TestSwitchWhilePodsRoll(t *testing.T) {
	for _, k := range kind.All {
		t.Run(k.Name, func(t *testing.T) {
			w := newWorld(t, k)
			const external = "10.9.0.9:8080"
			w.somebodyRegisters("web", external)
			app, err := cluster.Deploy(t.Context(), w.namespace, "web", 6)
			w.Expect(err).NotTo(HaveOccurred())
			stop := w.starts()
			w.annotates(&corev1.Service{}, "web", inGroup("web"))
			w.eventuallyGroup("web", append(w.targets(app), external)...)

			rolled := make(chan error, 1)
			go func() {
				var err error
				for range 3 {
					err = cmp.Or(err, app.Restart(t.Context()))
				}
				rolled <- err
			}()
			for i := 0; i < 12 || len(rolled) == 0; i++ {
				before := w.changesOfGroups()
				w.annotates(&corev1.Service{}, "web", []map[string]string{
					{managed.ServiceSharedAnnotation: "false"},
					inGroup("other"),
					{managed.TargetGroupsAnnotation: ""},
					inGroup("[web, other]"),
					inGroup(w.groups["web"].ARN),
				}[i%5])
				w.Eventually(w.changesOfGroups).Should(BeNumerically(">", before))
				if i == 4 {
					stop()
					stop = w.starts()
				}
			}
			w.Expect(<-rolled).To(Succeed())

			w.annotates(&corev1.Service{}, "web", inGroup("web"))
			w.eventuallyGroup("web", append(w.targets(app), external)...)
			w.eventuallyGroup("other")
			w.eventuallyKept(1)
			w.Eventually(w.held).Should(ConsistOf(anys(w.targets(app))...))
			w.annotates(&corev1.Service{}, "web", map[string]string{managed.ServiceSharedAnnotation: "false"})
			w.eventuallyKept(0)
			w.eventuallyGroup("web", external)
			w.Expect(w.held()).To(BeEmpty())
		})
	}
}

// changesOfGroups counts what the controller has asked the load balancer for.
func (w *world) changesOfGroups() int {
	return w.sim.Count("east", "RegisterTargets") + w.sim.Count("east", "DeregisterTargets")
}

// targets are those of the ready pods.
func (w *world) targets(app *kube.App) []string {
	w.t.Helper()
	addresses, err := app.Addresses(w.t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(addresses).NotTo(BeEmpty())
	for i, a := range addresses {
		addresses[i] = fmt.Sprintf("%s:%d", a, kube.TargetPort)
	}
	return addresses
}

func (w *world) somebodyRegisters(group, target string) {
	w.t.Helper()
	t, err := elbsim.ParseTarget(target)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.sim.Client("somebody").RegisterTargets(w.t.Context(), &elbv2.RegisterTargetsInput{
		TargetGroupArn: new(w.groups[group].ARN), Targets: []types.TargetDescription{{Id: &t.ID, Port: &t.Port}},
	})
	w.Expect(err).NotTo(HaveOccurred())
}
