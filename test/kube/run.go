package kube

import (
	"context"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Run runs a manager until stop is called, or to the end of the test, which
// fails if the manager ends with an error.
func Run(tb testing.TB, mgr manager.Manager) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("a controller ended with: %v", err)
		}
	})
	tb.Cleanup(stop)
	return stop
}
