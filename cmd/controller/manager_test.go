package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
)

// fakeAPI serves the kind, and refuses to list it until it permits that.
type fakeAPI struct {
	permits atomic.Bool
	once    sync.Once
	asked   chan struct{} // closed by the first list
}

func newFakeAPI(t *testing.T) (*fakeAPI, *rest.Config) {
	f := &fakeAPI{asked: make(chan struct{})}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, &rest.Config{Host: server.URL}
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	group, version := v1beta1.GroupVersion.Group, v1beta1.GroupVersion.String()
	offered := metav1.GroupVersionForDiscovery{GroupVersion: version, Version: v1beta1.GroupVersion.Version}
	switch r.URL.Path {
	case "/apis":
		answer(w, 200, metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
			Groups:   []metav1.APIGroup{{Name: group, Versions: []metav1.GroupVersionForDiscovery{offered}, PreferredVersion: offered}},
		})
	case "/apis/" + version:
		answer(w, 200, serves("TargetGroupBinding"))
	case "/apis/" + version + "/targetgroupbindings":
		f.once.Do(func() { close(f.asked) })
		if !f.permits.Load() || r.URL.Query().Get("watch") != "" {
			refuse(w, 403, metav1.StatusReasonForbidden)
			return
		}
		list := v1beta1.TargetGroupBindingList{TypeMeta: metav1.TypeMeta{Kind: "TargetGroupBindingList", APIVersion: version}}
		list.ResourceVersion = "1"
		answer(w, 200, list)
	default:
		refuse(w, 404, metav1.StatusReasonNotFound)
	}
}

// A controller that may not list bindings ends when it is told to, and does
// not sit out the grace period of its pod.
func TestEndBeforeTheCachesAreFilled(t *testing.T) {
	g := NewWithT(t)
	api, config := newFakeAPI(t)
	mgr, err := newManager(settings{metricsAddress: "0", probeAddress: "0"}, config, kind.All, nil)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = mgr.GetCache().GetInformer(t.Context(), &v1beta1.TargetGroupBinding{}, cache.BlockUntilSynced(false))
	g.Expect(err).NotTo(HaveOccurred())

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runManager(ctx, mgr, settings{}) }()
	<-api.asked
	cancel()
	g.Eventually(ended, "10s").Should(Receive(BeNil()))
	api.permits.Store(true) // lets the manager itself end too
}

func TestAddressesInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = taken.Close() })
	address := taken.Addr().String()
	_, config := newFakeAPI(t)

	t.Run("probes", func(t *testing.T) {
		g := NewWithT(t)
		_, err := newManager(settings{metricsAddress: "0", probeAddress: address}, config, kind.All, nil)
		g.Expect(err).To(MatchError(And(ContainSubstring("--health-probe-bind-address: "), ContainSubstring(address))))
	})
	t.Run("metrics", func(t *testing.T) {
		g := NewWithT(t)
		s := settings{metricsAddress: address, probeAddress: "0", webhookAddress: "0"}
		mgr, err := newManager(s, config, kind.All, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(runManager(t.Context(), mgr, s)).To(MatchError(And(HavePrefix("--metrics-bind-address: "), ContainSubstring(address))))
	})
	t.Run("webhooks", func(t *testing.T) {
		g := NewWithT(t)
		_, err := net.Listen("tcp", address)
		s := settings{webhookAddress: address}
		g.Expect(s.blameServer(err)).To(MatchError(And(HavePrefix("--webhook-bind-address: "), ContainSubstring(address))))
	})
}

// README's command has to say what it lacks on a laptop.
func TestLeaderElectionOutsideACluster(t *testing.T) {
	if exists(podNamespace) {
		t.Skipf("this is a pod of a cluster: there is %s", podNamespace)
	}
	g := NewWithT(t)
	_, config := newFakeAPI(t)
	s := settings{metricsAddress: "0", probeAddress: "0", leaderElection: true}
	_, err := newManager(s, config, kind.All, nil)
	g.Expect(err).To(MatchError(And(HavePrefix("--leader-election-namespace: "), ContainSubstring("--leader-elect=false"))))
	s.namespace = "default"
	_, err = newManager(s, config, kind.All, nil)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestWebhooksOutsideACluster(t *testing.T) {
	if exists(podNamespace) {
		t.Skipf("this is a pod of a cluster: there is %s", podNamespace)
	}
	g := NewWithT(t)
	g.Expect(webhooks(settings{webhookAddress: "0"})).To(BeNil())
	_, err := webhooks(settings{webhookAddress: ":9443"})
	g.Expect(err).To(MatchError(And(HavePrefix("--leader-election-namespace: "), ContainSubstring("--webhook-bind-address"))))
}
