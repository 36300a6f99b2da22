package binding

import (
	"context"
	"net/http"
	"testing"

	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/controller"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/kind"
	"target-ownership-controller/ownership"
	"target-ownership-controller/test/child"
)

// misspelt is a table that is not there.
type misspelt struct{ controller.Table }

func (misspelt) Verify(context.Context) error { return ownership.ErrTableMissing }

// standsBy runs a replica that never leads, and returns what its readiness
// probe answers.
func (s *site) standsBy(table controller.Table) (ready func() int) {
	s.t.Helper()
	s.has(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "leader"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("another"), RenewTime: new(metav1.NowMicro()), LeaseDurationSeconds: new(int32(3600)),
		},
	})
	options := s.managerOptions()
	options.LeaderElection, options.LeaderElectionID, options.LeaderElectionNamespace = true, "leader", s.namespace
	options.HealthProbeBindAddress = child.Address(s.t)
	mgr, err := ctrl.NewManager(s.api.Config, options)
	s.Expect(err).NotTo(HaveOccurred())
	setup.Lock()
	err = controller.Setup(s.t.Context(), mgr, controller.Options{
		Table:     table,
		Groups:    elb.New(s.sim.Client(s.id, func(o *elbv2.Options) { o.HTTPClient = s.aws() }), elb.Options{Region: elbRegion}),
		ClusterID: s.id, Version: "test", ComparePeriod: comparePeriod, HeartbeatPeriod: comparePeriod, Workers: 1,
		Kinds: []kind.Kind{s.kind},
	})
	setup.Unlock()
	s.Expect(err).NotTo(HaveOccurred())

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	s.t.Cleanup(func() {
		stop()
		s.Expect(<-ended).To(Succeed())
	})
	s.SetDefaultEventuallyTimeout(patience)
	return func() int {
		response, err := http.Get("http://" + options.HealthProbeBindAddress + "/readyz/ownership")
		if err != nil {
			return 0 // the server has not begun
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
}

// A rollout goes on when a pod is ready: also one that stands by, and not one
// that could do nothing if it led.
func TestAStandbyIsReadyIfItCouldLead(t *testing.T) {
	w := newWorld(t)
	right, wrong := w.cluster("right"), w.cluster("wrong")
	ready, unready := right.standsBy(right.dynamoDB(right.wire)), wrong.standsBy(misspelt{wrong.dynamoDB(wrong.wire)})
	w.Eventually(ready).Should(Equal(http.StatusOK))
	w.Eventually(unready).Should(Equal(http.StatusInternalServerError))
	w.Expect(right.count()).NotTo(HaveKey("PutItem"))
}
