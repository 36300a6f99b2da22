package kube

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestLightClusterServesObjectsAndStopsWithoutATrace(t *testing.T) {
	g := NewWithT(t)
	begin := time.Now()
	cluster, err := Start(t.Context(), Options{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{widgetCRD()},
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Logf("light cluster: up after %v", time.Since(begin).Round(time.Millisecond))
	pids := processIDs(cluster)
	g.Expect(pids).To(HaveLen(2), "etcd and kube-apiserver")

	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("example.com/v1")
	widget.SetKind("Widget")
	widget.SetNamespace("default")
	widget.SetName("first")
	g.Expect(cluster.Client.Create(t.Context(), widget)).To(Succeed())
	g.Expect(widget.GetUID()).NotTo(BeEmpty())

	begin = time.Now()
	g.Expect(cluster.Stop()).To(Succeed())
	t.Logf("light cluster: stopped after %v", time.Since(begin).Round(time.Millisecond))
	for _, pid := range pids {
		g.Expect(syscall.Kill(pid, 0)).To(MatchError(syscall.ESRCH), "process %d is gone", pid)
	}
	_, err = os.Stat(cluster.dir)
	g.Expect(err).To(MatchError(fs.ErrNotExist))
	g.Expect(cluster.Stop()).To(Succeed(), "a second Stop does nothing")
}

func TestLightCluster(t *testing.T) {
	cluster := ForTest(t, Options{Name: "red"}) // shared, as each start costs seconds

	t.Run("its kubeconfig works for other processes", func(t *testing.T) {
		g := NewWithT(t)
		config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
		g.Expect(err).NotTo(HaveOccurred())
		other, err := client.New(config, client.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(other.Get(t.Context(), client.ObjectKey{Name: "kube-system"}, &corev1.Namespace{})).To(Succeed())
	})

	t.Run("SetEndpoints replaces the ready addresses", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(cluster.CreateNamespace(t.Context(), "shop")).To(Succeed())
		g.Expect(cluster.SetEndpoints(t.Context(), "shop", "web", "10.0.0.2", "10.0.0.1", "2001:db8::1")).To(Succeed())
		g.Expect(cluster.Addresses(t.Context(), "shop", "web")).To(Equal([]string{"10.0.0.1", "10.0.0.2", "2001:db8::1"}))

		g.Expect(cluster.SetEndpoints(t.Context(), "shop", "web", "10.0.0.3")).To(Succeed())
		g.Expect(cluster.Addresses(t.Context(), "shop", "web")).To(Equal([]string{"10.0.0.3"}))

		g.Expect(cluster.SetEndpoints(t.Context(), "shop", "web", "10.0.0.300")).To(MatchError(ContainSubstring("10.0.0.300")))
	})

	t.Run("a wait that fails says how far things were", func(t *testing.T) {
		g := NewWithT(t)
		never := func(context.Context) (bool, string, error) { return false, "3 of 4 pods are ready", nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := cluster.Until(ctx, &corev1.PodList{}, never)
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
		g.Expect(err).To(MatchError(ContainSubstring("cluster red: waited in vain: 3 of 4 pods are ready")))
	})
}

func TestCrashEndsWaitsAndIsReported(t *testing.T) {
	g := NewWithT(t)
	cluster, err := Start(t.Context(), Options{Name: "green"})
	g.Expect(err).NotTo(HaveOccurred())
	never := func(context.Context) (bool, string, error) { return false, "no widgets yet", nil }

	waited := make(chan error, 1)
	go func() { waited <- cluster.Until(context.Background(), &corev1.PodList{}, never) }()
	apiServer := cluster.processes[1]
	g.Expect(apiServer.Name).To(Equal("kube-apiserver"))
	g.Expect(apiServer.Kill()).To(Succeed())

	g.Expect(<-waited).To(MatchError(ContainSubstring("kube-apiserver ended unasked: signal: killed")))
	g.Expect(cluster.Stop()).To(MatchError(ContainSubstring("kube-apiserver ended unasked")))
}

func TestFailedStartShowsLogsAndLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, err := Start(t.Context(), Options{CRDPaths: []string{filepath.Join(temp, "no-such-folder")}})

	g.Expect(err).To(MatchError(ContainSubstring("no-such-folder")))
	g.Expect(err).To(MatchError(ContainSubstring("--- kube-apiserver of cluster test, last lines of its log:\n")))
	g.Expect(os.ReadDir(temp)).To(BeEmpty())
}

func processIDs(cluster *Cluster) []int {
	var pids []int
	for _, p := range cluster.processes {
		pids = append(pids, p.Pid)
	}
	return pids
}

func widgetCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"},
				},
			}},
		},
	}
}
