// verify-protocol checks the model in docs/protocol/model with spin, and that
// each rule of the protocol is needed. `make verify-protocol` gets spin and
// runs it. It takes no flags.
//
// Environment: TOC_BIN is the folder to find spin in if it is not in PATH,
// bin/ of the repository by default. cc compiles what spin generates.
//
// Exit status: 0 if every promise holds and every mutation was caught, 2
// without spin, else 1.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"target-ownership-controller/test/model"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	spin, err := findSpin()
	if err != nil {
		fmt.Fprintf(os.Stderr, "verify-protocol: %v\n", err)
		return 2
	}
	if err := model.Verify(ctx, os.Stdout, spin, filepath.Join(repository(), "docs", "protocol", "model")); err != nil {
		fmt.Fprintf(os.Stderr, "verify-protocol: %v\n", err)
		return 1
	}
	return 0
}

func findSpin() (string, error) {
	if spin, err := exec.LookPath("spin"); err == nil {
		return spin, nil
	}
	spin := filepath.Join(cmp.Or(os.Getenv("TOC_BIN"), filepath.Join(repository(), "bin")), "spin")
	if _, err := os.Stat(spin); err != nil {
		return "", fmt.Errorf("there is no spin, neither in PATH nor %s; install the Debian package spin, or build it from spinroot.com", spin)
	}
	return spin, nil
}

// repository is what this file was compiled from.
func repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
