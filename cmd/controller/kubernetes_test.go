package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

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
			err := servesBindings(t.Context(), &rest.Config{Host: server.URL}, kind.TargetGroupBinding)
			if c.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(c.says), ContainSubstring(server.URL))))
		})
	}
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
		"garbage":    {garbage, []string{"read the kubeconfig", garbage}},
		"no context": {noContext, []string{"read the kubeconfig", "nosuch"}},
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
