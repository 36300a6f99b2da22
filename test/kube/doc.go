// Package kube runs Kubernetes control planes for tests and the demo: real
// programs on loopback and in temporary folders. No cluster, container
// runtime or AWS account is needed, only what `make tools` puts into bin/.
//
// A light cluster is etcd and kube-apiserver: objects, CRDs, CEL validation,
// RBAC, watches. It is right for most tests. No controller runs, so nothing
// rolls a Deployment, gives a pod an address, empties a namespace or collects
// garbage; a test writes EndpointSlices by hand, with [Cluster.SetEndpoints].
//
//	cluster := kube.ForTest(t, kube.Options{CRDPaths: []string{"../../charts/target-ownership-controller/files/crds"}})
//
// A full cluster adds kube-controller-manager (Deployments, ReplicaSets,
// EndpointSlices, garbage, namespaces), kube-scheduler and kwok, which plays
// the kubelets. Pods get addresses and become ready, and the real
// EndpointSlice controller writes the slices:
//
//	blue := kube.ForTest(t, kube.Options{Name: "blue", Full: true, PodCIDR: "10.1.0.0/16"})
//	web, err := blue.Deploy(ctx, "default", "web", 20)
//	err = web.Restart(ctx)
//
// Clusters that run at once take distinct pod CIDRs, else kwok hands out the
// same addresses in each. [App.RunPodAt] gives a pod a chosen address, so
// that one moves from cluster to cluster. No node lifecycle controller runs:
// a node that is made NotReady stays as the test made it, without taints.
//
// # Cost
//
// Measured on a 2-core virtual machine that was compiling other things
// meanwhile. A start takes processor time (6 s for a light cluster, 10 s for
// a full one), so it is faster on an idle machine, and on one that is very
// busy it was seen to take three times as long.
//
//	light cluster up                   7 s
//	full cluster up, nodes Ready      11 s
//	two full clusters up at once      16 s
//	20 replicas in EndpointSlices      2 s after Deploy
//	20 replicas replaced             1.3 s after Restart
//	Stop                             0.2 s
//
// Two full clusters use 700 MB together, the memory that their programs
// share counted once.
//
// # Leftovers
//
// Stop kills the programs, waits for each and removes their files. On Linux
// they also die when the test is killed or panics; on other systems such a
// test leaves them running. An interrupt at the terminal does not reach them:
// a program that uses this package must call Stop when it is interrupted.
package kube
