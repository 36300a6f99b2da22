// Package api_test checks the CRD against a real API server: which manifests it
// accepts, which it refuses and why, and how it treats objects that were stored
// before it was installed.
package api_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/test/kube"
)

const crdFile = "../../charts/target-ownership-controller/files/crds/elbv2.k8s.aws_targetgroupbindings.yaml"

// kubectl is a client of a cluster with our CRD. It refuses unknown fields, as
// `kubectl apply` does.
var kubectl client.Client

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	cluster, err := kube.Start(context.Background(), kube.Options{Name: "ours", CRDPaths: []string{crdFile}, Scheme: newScheme()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	kubectl = client.WithFieldValidation(cluster.Client, metav1.FieldValidationStrict)
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiextensionsv1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// binding is a TargetGroupBinding with the spec that the YAML says.
func binding(g Gomega, spec string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("TargetGroupBinding"))
	object.SetGenerateName("binding-")
	object.SetNamespace("default")
	setSpec(g, object, spec)
	return object
}

func setSpec(g Gomega, object *unstructured.Unstructured, spec string) {
	content := map[string]any{}
	text, err := yaml.YAMLToJSON([]byte(spec))
	g.Expect(err).NotTo(HaveOccurred())
	// apimachinery's decoder, as it reads whole numbers as integers.
	g.Expect(utiljson.Unmarshal(text, &content)).To(Succeed())
	object.Object["spec"] = content
}
