// Package binding tests the reconciler of TargetGroupBindings on real parts:
// kube-apiserver and etcd, the AWS SDK clients, a DynamoDB engine and the ELBv2
// simulator. Tests that name a case mean docs/field-cases.md.
//
// Most tests call the Reconciler themselves, so that they decide what happens
// between two passes, and in what order. The others run the whole controller.
package binding

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/kube"
)

const (
	crds    = "../../charts/target-ownership-controller/files/crds"
	crdFile = crds + "/elbv2.k8s.aws_targetgroupbindings.yaml"
)

// The API servers that all tests share. Each test has namespaces of its own.
var (
	ours  *kube.Cluster // with our CRD
	users *kube.Cluster // with the CRD that users of the AWS Load Balancer Controller have
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		// They wait for API servers and for retries more than they compute.
		if err := parallel.Value.Set("16"); err != nil {
			panic(err)
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	code, err := 1, startClusters()
	if err == nil {
		code = m.Run()
	}
	for _, cluster := range []*kube.Cluster{ours, users} {
		if cluster != nil {
			err = errors.Join(err, cluster.Stop())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// startClusters starts both at once.
func startClusters() error {
	crd, err := usersCRD()
	if err != nil {
		return err
	}
	var oursErr, usersErr error
	var started sync.WaitGroup
	started.Go(func() {
		ours, oursErr = kube.Start(context.Background(), kube.Options{Name: "ours", CRDPaths: []string{crds}, Scheme: newScheme()})
	})
	started.Go(func() {
		users, usersErr = kube.Start(context.Background(), kube.Options{
			Name: "users", CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}, Scheme: newScheme(),
		})
	})
	started.Wait()
	return errors.Join(oursErr, usersErr)
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, kind.TargetGroupBinding.AddToScheme, kind.SharedTargetGroupBinding.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// usersCRD is our CRD without what that of the AWS Load Balancer Controller
// does not have: the checks, and the status beyond generation and conditions.
func usersCRD() (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(crdFile)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, err
	}
	for i := range crd.Spec.Versions {
		schema := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		status := schema.Properties["status"]
		delete(status.Properties, "targets")
		delete(status.Properties, "targetGroupARN")
		withoutRules(schema)
	}
	return crd, nil
}

func withoutRules(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations = nil
	for name, property := range s.Properties {
		withoutRules(&property)
		s.Properties[name] = property
	}
}
