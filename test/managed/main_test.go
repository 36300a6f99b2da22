// Package managed tests bindings from annotations on real parts: a full
// Kubernetes control plane, whose garbage collector follows owners, the whole
// controller, a DynamoDB engine and the ELBv2 simulator.
package managed

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"target-ownership-controller/controller/kind"
	"target-ownership-controller/test/kube"
)

const crds = "../../charts/target-ownership-controller/files/crds"

// cluster is shared by all tests. Each has a namespace of its own.
var cluster *kube.Cluster

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	cluster, err = kube.Start(context.Background(), kube.Options{Name: "managed", CRDPaths: []string{crds}, Scheme: newScheme(), Full: true, Nodes: 1})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	add := []func(*runtime.Scheme) error{clientscheme.AddToScheme}
	for _, k := range kind.All {
		add = append(add, k.AddToScheme)
	}
	for _, add := range add {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}
