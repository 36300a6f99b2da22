package kube

import (
	"fmt"
	"net/netip"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

const (
	defaultPodCIDR = "10.64.0.0/16"
	defaultNodes   = 2
)

// Options say what a cluster has. The zero value is a light cluster.
type Options struct {
	// Name prefixes node names and error messages; a DNS label.
	// Two clusters that run at once need two names, as node names and
	// instance IDs are derived from it. Default "test".
	Name string

	// CRDPaths are files and directories of CustomResourceDefinitions,
	// CRDs are definitions given as objects. Start returns once all are served.
	CRDPaths []string
	CRDs     []*apiextensionsv1.CustomResourceDefinition

	// Scheme is what Cluster.Client knows. Default: client-go's scheme.
	Scheme *runtime.Scheme

	// Audit has kube-apiserver write down each request in [Cluster.AuditLog].
	Audit bool

	// Full adds kube-controller-manager, kube-scheduler and kwok, so that
	// Deployments roll, pods get addresses and EndpointSlices are written.
	Full bool

	// PodCIDR is where kwok takes pod addresses from, in ascending order and
	// each free address again. Clusters with the same CIDR hand out the same
	// addresses. Full clusters only. Default 10.64.0.0/16.
	PodCIDR string

	// Nodes is how many nodes kwok runs. Full clusters only. Default 2.
	Nodes int
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "test"
	}
	if o.Scheme == nil {
		o.Scheme = clientscheme.Scheme
	}
	if o.Full && o.PodCIDR == "" {
		o.PodCIDR = defaultPodCIDR
	}
	if o.Full && o.Nodes == 0 {
		o.Nodes = defaultNodes
	}
	return o
}

func (o Options) validate() error {
	if problems := validation.IsDNS1123Label(o.Name); len(problems) > 0 {
		return fmt.Errorf("cluster name %q: %s", o.Name, problems[0])
	}
	if !o.Full {
		if o.PodCIDR != "" || o.Nodes != 0 {
			return fmt.Errorf("cluster %s: pod CIDR and nodes need a full cluster, set Full", o.Name)
		}
		return nil
	}
	if _, err := netip.ParsePrefix(o.PodCIDR); err != nil {
		return fmt.Errorf("cluster %s: pod CIDR: %w", o.Name, err)
	}
	if o.Nodes < 1 {
		return fmt.Errorf("cluster %s: %d nodes: a full cluster needs one or more", o.Name, o.Nodes)
	}
	return nil
}
