package chart

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/action"
	helmkube "helm.sh/helm/v4/pkg/kube"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/cmd/targetctl/cli"
	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/child"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// site is a cluster with the chart in it. No kubelet runs there: the test
// starts the programs that the chart's pods would run.
type site struct {
	*WithT
	t       *testing.T
	cluster *kube.Cluster
	helm    *action.Configuration
	sim     *elbsim.Simulator
}

// helmOf is Helm as the administrator of a cluster.
func helmOf(t *testing.T, cluster *kube.Cluster) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	cache, ns := t.TempDir(), namespace
	flags.KubeConfig, flags.CacheDir, flags.Namespace = &cluster.Kubeconfig, &cache, &ns
	configuration := action.NewConfiguration()
	NewWithT(t).Expect(configuration.Init(flags, namespace, "secret")).To(Succeed())
	return configuration
}

func (s *site) install(v values, edits ...func(*action.Install)) error {
	install := action.NewInstall(s.helm)
	install.ReleaseName, install.Namespace, install.CreateNamespace = releaseName, namespace, true
	install.WaitStrategy = helmkube.HookOnlyStrategy
	for _, edit := range edits {
		edit(install)
	}
	_, err := install.RunWithContext(s.t.Context(), loadChart(s.t), v)
	return err
}

// kubeconfig is for who has a token of the service account of the pod.
func (s *site) kubeconfig(account string) string {
	s.t.Helper()
	request := &authenticationv1.TokenRequest{}
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	s.Expect(s.cluster.Client.SubResource("token").Create(s.t.Context(), object, request)).To(Succeed())
	file := clientcmdapi.NewConfig()
	file.Clusters["c"] = &clientcmdapi.Cluster{Server: s.cluster.Config.Host, CertificateAuthorityData: s.cluster.Config.CAData}
	file.AuthInfos["c"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	file.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "c"}
	file.CurrentContext = "c"
	path := filepath.Join(s.t.TempDir(), "kubeconfig")
	s.Expect(clientcmd.WriteToFile(*file, path)).To(Succeed())
	return path
}

// replica is a process of the Deployment.
type replica struct {
	*child.Process
	url      string // of its probes
	webhooks string // their address
}

// start runs one replica with the arguments and the environment of the
// Deployment. Where it listens is its own, since all share one host.
func (s *site) start(program string, env ...string) *replica {
	s.t.Helper()
	var d appsv1.Deployment
	s.Expect(s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: releaseName}, &d)).To(Succeed())
	pod := d.Spec.Template.Spec
	probes, webhooks := child.Address(s.t), child.Address(s.t)
	dir := s.t.TempDir()
	cmd := exec.Command(program, append(slices.Clone(pod.Containers[0].Args),
		"--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address="+probes, "--webhook-bind-address="+webhooks)...)
	cmd.Env = append(env, "HOME="+dir, "KUBECONFIG="+s.kubeconfig(pod.ServiceAccountName))
	for _, e := range pod.Containers[0].Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	process, err := child.Start(cmd, filepath.Join(dir, "controller.log"))
	s.Expect(err).NotTo(HaveOccurred())
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("controller:\n%s", strings.Join(process.Tail(40), "\n"))
		}
		s.Expect(process.Kill()).To(Succeed())
	})
	return &replica{Process: process, url: "http://" + probes, webhooks: webhooks}
}

func (s *site) ready(r *replica) {
	s.t.Helper()
	for _, probe := range []string{"/healthz", "/readyz"} {
		s.Eventually(func() (int, error) {
			response, err := http.Get(r.url + probe)
			if err != nil {
				return 0, err
			}
			return response.StatusCode, response.Body.Close()
		}).Should(Equal(http.StatusOK), probe)
	}
}

// ends has a replica end as a kubelet does.
func (s *site) ends(r *replica) {
	s.t.Helper()
	s.Expect(r.Signal(syscall.SIGTERM)).To(Succeed())
	s.Eventually(r.Done()).Should(BeClosed())
	s.Expect(r.Err()).To(MatchError("exit status 0"))
}

// runJobs does what pods of Jobs would do, until the test ends: it runs
// targetctl with their arguments.
func (s *site) runJobs(ctx context.Context) {
	jobs, err := s.cluster.Client.Watch(ctx, &batchv1.JobList{}, client.InNamespace(namespace))
	s.Expect(err).NotTo(HaveOccurred())
	go func() {
		defer jobs.Stop()
		for event := range jobs.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && job.Status.CompletionTime == nil && len(job.Status.Conditions) == 0 && job.DeletionTimestamp == nil {
				if err := s.run(ctx, job); err != nil {
					s.t.Errorf("job %s: %v", job.Name, err)
				}
			}
		}
	}()
}

func (s *site) run(ctx context.Context, job *batchv1.Job) error {
	container := job.Spec.Template.Spec.Containers[0]
	if !slices.Equal(container.Command, []string{"/targetctl"}) {
		return fmt.Errorf("the image has no %v", container.Command)
	}
	var log bytes.Buffer
	code := cli.Run(ctx, cli.Streams{In: strings.NewReader(""), Out: &log, Err: &log}, "test", append([]string{"targetctl"}, container.Args...))
	s.t.Logf("job %s ended with %d:\n%s", job.Name, code, &log)
	now := metav1.Now()
	end := func(kinds ...batchv1.JobConditionType) {
		for _, kind := range kinds {
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now, Reason: "ByTheTest",
			})
		}
	}
	job.Status.StartTime = &now
	if code == 0 {
		job.Status.CompletionTime, job.Status.Succeeded = &now, 1
		end(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	} else {
		job.Status.Failed = 1
		end(batchv1.JobFailureTarget, batchv1.JobFailed)
	}
	return s.cluster.Client.Status().Update(ctx, job)
}

func (s *site) binding(name string) *v1beta1.TargetGroupBinding {
	s.t.Helper()
	b := &v1beta1.TargetGroupBinding{}
	s.Expect(s.cluster.Client.Get(s.t.Context(), client.ObjectKey{Namespace: shop, Name: name}, b)).To(Succeed())
	return b
}

// patience is for what a controller does, on a machine that does other
// things too.
func (s *site) patience() {
	s.SetDefaultEventuallyTimeout(time.Minute)
	s.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
}

func buildController(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "controller")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "target-ownership-controller/cmd/controller")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s", out)
	return program
}
