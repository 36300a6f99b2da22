package kube

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const holdCluster = "KUBE_TEST_HOLD_CLUSTER"

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // else it complains that nobody chose one
	if os.Getenv(holdCluster) != "" {
		startAndHang()
	}
	os.Exit(m.Run())
}

// startAndHang is the parent that TestProgramsDieWithTheirParent kills.
func startAndHang() {
	cluster, err := Start(context.Background(), Options{})
	if err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(processIDs(cluster)); err != nil {
		panic(err)
	}
	select {}
}
