package kube

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestFullClusterRollsADeployment(t *testing.T) {
	g := NewWithT(t)
	begin := time.Now()
	cluster := ForTest(t, Options{Name: "full", Full: true, PodCIDR: "10.71.0.0/16"})
	t.Logf("full cluster: up after %v", time.Since(begin).Round(time.Millisecond))
	g.Expect(cluster.CreateNamespace(t.Context(), "shop")).To(Succeed())

	begin = time.Now()
	web, err := cluster.Deploy(t.Context(), "shop", "web", 20)
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("20 replicas: in EndpointSlices after %v", time.Since(begin).Round(time.Millisecond))
	first, err := web.Addresses(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(HaveLen(20))
	g.Expect(first).To(HaveEach(beIn("10.71.0.0/16")))
	firstPods := podNames(t, web)

	begin = time.Now()
	g.Expect(web.Restart(t.Context())).To(Succeed())
	t.Logf("20 replicas: restarted after %v", time.Since(begin).Round(time.Millisecond))
	second, err := web.Addresses(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second).To(HaveLen(20))
	g.Expect(second).NotTo(Equal(first), "new pods start before old ones free their addresses")
	g.Expect(podNames(t, web)).NotTo(ContainElements(firstPods))

	g.Expect(web.Scale(t.Context(), 3)).To(Succeed())
	g.Expect(web.Addresses(t.Context())).To(HaveLen(3))

	g.Expect(web.Delete(t.Context())).To(Succeed())
	g.Expect(web.Addresses(t.Context())).To(BeEmpty())
}

func TestNodesLookLikeInstances(t *testing.T) {
	g := NewWithT(t)
	cluster := ForTest(t, Options{Name: "nodes", Full: true, Nodes: 4})

	nodes := &corev1.NodeList{}
	g.Expect(cluster.Client.List(t.Context(), nodes)).To(Succeed())
	g.Expect(nodes.Items).To(HaveLen(4))
	seen := map[string]int{}
	for _, node := range nodes.Items {
		zone := node.Labels["topology.kubernetes.io/zone"]
		seen[zone]++
		g.Expect(node.Spec.ProviderID).To(MatchRegexp(`^aws:///` + zone + `/i-[0-9a-f]{17}$`))
		g.Expect(node.Status.Addresses).To(ContainElement(HaveField("Type", corev1.NodeInternalIP)))
		g.Expect(node.Spec.Taints).To(BeEmpty())
	}
	g.Expect(seen).To(Equal(map[string]int{"us-west-2a": 2, "us-west-2b": 1, "us-west-2c": 1}))
}

func TestTwoFullClustersShareAddressesOnlyWhenAsked(t *testing.T) {
	g := NewWithT(t)
	begin := time.Now()
	blue, green := startPair(t)
	t.Logf("two full clusters: up after %v", time.Since(begin).Round(time.Millisecond))

	inBlue, err := blue.Addresses(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	inGreen, err := green.Addresses(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(inBlue).To(And(HaveLen(5), HaveEach(beIn("10.72.0.0/16"))))
	g.Expect(inGreen).To(And(HaveLen(5), HaveEach(beIn("10.73.0.0/16"))))

	moving, err := blue.RunPodAt(t.Context(), "10.99.0.7")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(blue.Addresses(t.Context())).To(ConsistOf(append(inBlue, "10.99.0.7")))
	g.Expect(blue.RemovePod(t.Context(), moving)).To(Succeed())
	g.Expect(blue.Addresses(t.Context())).To(Equal(inBlue))
	_, err = green.RunPodAt(t.Context(), "10.99.0.7")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(green.Addresses(t.Context())).To(ConsistOf(append(inGreen, "10.99.0.7")))

	t.Logf("two full clusters: %d MB of memory", megabytes(g, blue.cluster)+megabytes(g, green.cluster))
	g.Expect(green.Delete(t.Context())).To(Succeed(), "pods of RunPodAt go with the app")
}

// startPair runs a small app in each of two clusters that start at once.
func startPair(t *testing.T) (blue, green *App) {
	t.Helper()
	run := func(name, podCIDR string, app **App) func() {
		return func() {
			cluster := ForTest(t, Options{Name: name, Full: true, PodCIDR: podCIDR})
			deployed, err := cluster.Deploy(t.Context(), "default", "web", 5)
			if err != nil {
				t.Error(err)
				return
			}
			*app = deployed
		}
	}
	var both sync.WaitGroup
	both.Go(run("blue", "10.72.0.0/16", &blue))
	both.Go(run("green", "10.73.0.0/16", &green))
	both.Wait()
	if t.Failed() || blue == nil || green == nil {
		t.FailNow()
	}
	return blue, green
}

func podNames(t *testing.T, app *App) []string {
	pods := &corev1.PodList{}
	NewWithT(t).Expect(app.cluster.Client.List(t.Context(), pods, client.InNamespace(app.Namespace))).To(Succeed())
	var names []string
	for _, pod := range pods.Items {
		names = append(names, pod.Name)
	}
	return names
}

func beIn(cidr string) OmegaMatcher {
	network := netip.MustParsePrefix(cidr)
	return WithTransform(func(address string) bool {
		return network.Contains(netip.MustParseAddr(address))
	}, BeTrue())
}
