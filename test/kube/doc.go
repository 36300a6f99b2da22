// Package kube runs Kubernetes control planes for tests and the demo: real
// programs, on loopback and in temporary folders, with no cluster, container
// runtime or AWS account needed.
package kube
