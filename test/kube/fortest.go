package kube

import "testing"

// ForTest starts a cluster for a test and stops it at the test's end. The
// test fails if the cluster does not start or one of its programs crashes;
// the logs' last lines are shown if the test fails for any reason.
func ForTest(t testing.TB, options Options) *Cluster {
	t.Helper()
	cluster, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() || cluster.crash() != nil {
			t.Log(cluster.LogTails())
		}
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}
