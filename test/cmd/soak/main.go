// soak runs the controller on real parts while they fail; `make soak` builds
// what it needs and runs it. It takes no flags.
//
// Environment: DURATION is how long, 5m by default, between 1m and 24h. SEED
// decides on the faults, and is drawn if not given. CONTROLLER is the program
// to run, TOC_BIN the folder with all programs, bin/ of the repository by
// default.
//
// Exit status: 0 if nothing went wrong, 130 if interrupted, 2 for a setting
// that cannot be used, else 1.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/test/soak"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A reader that has gone away (soak | head) must not end it before it has
	// stopped what it runs.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// The client libraries have nothing to say here.
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())

	options, err := settings()
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		return 2
	}
	switch err := soak.Run(ctx, options); {
	case errors.Is(err, soak.ErrInterrupted):
		return 130
	case err != nil:
		return 1
	}
	return 0
}

func settings() (soak.Options, error) {
	duration, err := time.ParseDuration(cmp.Or(os.Getenv("DURATION"), "5m"))
	if err != nil {
		return soak.Options{}, fmt.Errorf("DURATION: %w; write it as 90s, 5m or 8h", err)
	}
	if duration < soak.MinDuration || duration > soak.MaxDuration {
		return soak.Options{}, fmt.Errorf("DURATION: %s is not between %s and %s", duration, soak.MinDuration, soak.MaxDuration)
	}
	seed := rand.Uint64N(1e6)
	if given := os.Getenv("SEED"); given != "" {
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			return soak.Options{}, fmt.Errorf("SEED: %w", err)
		}
	}
	root := repository()
	bin := cmp.Or(os.Getenv("TOC_BIN"), filepath.Join(root, "bin"))
	return soak.Options{
		Out: os.Stdout, Duration: duration, Seed: seed,
		Controller: cmp.Or(os.Getenv("CONTROLLER"), filepath.Join(bin, "controller")),
		Charts:     filepath.Join(root, "charts"),
	}, nil
}

// repository is the root of the checkout that this file was compiled from.
func repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
