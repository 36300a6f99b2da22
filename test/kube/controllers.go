package kube

import "strings"

// controllers are those of kube-controller-manager that the tests need:
// Deployments roll, slices follow pods, deletions cascade, namespaces empty.
var controllers = []string{
	"deployment-controller",
	"replicaset-controller",
	"endpointslice-controller",
	"garbage-collector-controller",
	"namespace-controller",
}

// startControllers runs everything beyond the API server. None of it serves
// or elects a leader: there is one of each, and nobody asks it anything.
func (c *Cluster) startControllers() error {
	err := c.run(c.binaries.program("kube-controller-manager"),
		"--kubeconfig="+c.Kubeconfig,
		"--controllers="+strings.Join(controllers, ","),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--concurrent-gc-syncs=5",
	)
	if err != nil {
		return err
	}
	err = c.run(c.binaries.program("kube-scheduler"),
		"--kubeconfig="+c.Kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	)
	if err != nil {
		return err
	}
	stages, err := c.writeStages()
	if err != nil {
		return err
	}
	return c.run(c.binaries.kwok,
		"--kubeconfig="+c.Kubeconfig,
		"--config="+stages,
		"--manage-nodes-with-label-selector="+kwokNodeLabel+"=true",
		"--cidr="+c.options.PodCIDR,
	)
}
