package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/controller/kind"
)

// answer writes an object of the Kubernetes API, or a refusal.
func answer(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	answer(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: reason, Code: int32(code), Message: string(reason),
	})
}

func serves(served ...string) metav1.APIResourceList {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: v1beta1.GroupVersion.String(),
	}
	for _, kind := range served {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: "targetgroupbindings", Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}})
	}
	return list
}

func TestWhatKeepsTheKubernetesAPIFromServingBindings(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		says   string // "": it serves them
	}{
		"served":       {func(w http.ResponseWriter) { answer(w, 200, serves("TargetGroupBinding")) }, ""},
		"other kinds":  {func(w http.ResponseWriter) { answer(w, 200, serves("IngressClassParams")) }, "is not installed"},
		"no group":     {func(w http.ResponseWriter) { refuse(w, 404, metav1.StatusReasonNotFound) }, "is not installed"},
		"unauthorized": {func(w http.ResponseWriter) { refuse(w, 401, metav1.StatusReasonUnauthorized) }, "does not accept the credentials"},
		"forbidden":    {func(w http.ResponseWriter) { refuse(w, 403, metav1.StatusReasonForbidden) }, "forbids to look"},
		"overloaded":   {func(w http.ResponseWriter) { refuse(w, 503, metav1.StatusReasonServiceUnavailable) }, "answers with an error"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				g.Expect(r.URL.Path).To(Equal("/apis/elbv2.k8s.aws/v1beta1"))
				c.answer(w)
			}))
			defer server.Close()
			err := servesBindings(t.Context(), &rest.Config{Host: server.URL, BearerToken: "of somebody"}, kind.TargetGroupBinding)
			if c.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(c.says), ContainSubstring(server.URL))))
		})
	}
}

// Who sends no credentials is refused for that, and no role helps.
func TestKubeconfigWithoutCredentials(t *testing.T) {
	for name, credentials := range map[string]func(*rest.Config){
		"none":         func(*rest.Config) {},
		"a token":      func(c *rest.Config) { c.BearerToken = "token" },
		"a token file": func(c *rest.Config) { c.BearerTokenFile = token(t) },
		"a password":   func(c *rest.Config) { c.Username, c.Password = "somebody", "secret" },
	} {
		for code, reason := range map[int]metav1.StatusReason{401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden} {
			t.Run(fmt.Sprint(name, code), func(t *testing.T) {
				g := NewWithT(t)
				t.Setenv("KUBECONFIG", "/home/somebody/of-east")
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, code, reason) }))
				defer server.Close()
				config := &rest.Config{Host: server.URL}
				credentials(config)
				missing := ContainSubstring("the kubeconfig /home/somebody/of-east gives no credentials for the Kubernetes API at " + server.URL)
				if name != "none" {
					missing = Not(missing)
				}
				g.Expect(servesBindings(t.Context(), config, kind.TargetGroupBinding)).To(MatchError(missing))
			})
		}
	}
}

func TestCredentialsThatTakeNoToken(t *testing.T) {
	g := NewWithT(t)
	g.Expect(anonymous(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: []byte("authority")}})).To(BeTrue())
	for _, c := range []*rest.Config{
		{TLSClientConfig: rest.TLSClientConfig{CertData: []byte("certificate")}},
		{TLSClientConfig: rest.TLSClientConfig{CertFile: "certificate"}},
		{ExecProvider: &clientcmdapi.ExecConfig{Command: "aws"}},
		{AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc"}},
	} {
		g.Expect(anonymous(c)).To(BeFalse())
	}
}

func token(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "token")
	NewWithT(t).Expect(os.WriteFile(path, []byte("token"), 0o600)).To(Succeed())
	return path
}

func TestKubernetesAPIThatIsDown(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(nil)
	server.Close()
	err := servesBindings(t.Context(), &rest.Config{Host: server.URL}, kind.TargetGroupBinding)
	g.Expect(err).To(MatchError(And(ContainSubstring(server.URL+" cannot be reached"), Not(ContainSubstring("CustomResourceDefinition")))))
}

func TestKubeconfigsThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	missing := filepath.Join(dir, "missing")
	empty, garbage := file("empty", ""), file("garbage", "a: [")
	noContext := file("context", `{apiVersion: v1, kind: Config, current-context: nosuch}`)
	for name, c := range map[string]struct {
		kubeconfig string
		says       []string
	}{
		"missing":    {missing, []string{"KUBECONFIG: there is no file " + missing}},
		"empty":      {empty, []string{"names no cluster", "KUBECONFIG"}},
		"garbage":    {garbage, []string{"read the kubeconfig " + garbage + ": ", "let KUBECONFIG name another file"}},
		"no context": {noContext, []string{"read the kubeconfig " + noContext + ": ", "nosuch", "let KUBECONFIG name another file"}},
		// kubectl too takes a list in which some are missing.
		"one of two": {missing + string(filepath.ListSeparator) + garbage, []string{garbage}},
		"unset":      {"", []string{"set KUBECONFIG", missing, "not a pod with a service account"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			nowhere(t, missing)
			t.Setenv("KUBECONFIG", c.kubeconfig)
			_, err := kubernetesAPI(context.Background(), kind.All[:1])
			g.Expect(err).To(HaveOccurred())
			for _, words := range c.says {
				g.Expect(err.Error()).To(ContainSubstring(words))
			}
			g.Expect(err.Error()).NotTo(ContainSubstring("KUBERNETES_MASTER"))
		})
	}
}

// nowhere is a machine that is no pod and has no kubeconfig in the home folder.
func nowhere(t *testing.T, home string) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	was := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = home
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = was })
}
