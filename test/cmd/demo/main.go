// demo plays the controller's story on this machine; `make demo` builds what
// it needs and runs it. It takes no flags.
//
// Environment: KEEP=1 leaves everything running, after a failure too, and says
// how to look around, until Ctrl-C.
// DYNAMODB_ENDPOINT is the URL of a DynamoDB engine to use, one that takes any
// credentials. NO_COLOR turns colours off. TOC_BIN is the folder with the
// programs, bin/ of the repository by default.
//
// Exit status: 0 if all checks passed, 130 if interrupted before that, else 1.
package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/test/demo"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A reader that has gone away (demo | head) must not end it before it has
	// stopped what it runs.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctrl.SetLogger(logr.Discard()) // the client library has nothing to say here

	root := repository()
	err := demo.Run(ctx, demo.Options{
		Out:              os.Stdout,
		Color:            os.Getenv("NO_COLOR") == "" && isTerminal(os.Stdout),
		Keep:             os.Getenv("KEEP") != "",
		DynamoDBEndpoint: os.Getenv("DYNAMODB_ENDPOINT"),
		Bin:              cmp.Or(os.Getenv("TOC_BIN"), filepath.Join(root, "bin")),
		Charts:           filepath.Join(root, "charts"),
	})
	switch {
	case errors.Is(err, demo.ErrInterrupted):
		return 130
	case err != nil:
		return 1
	}
	return 0
}

// repository is the root of the checkout that this file was compiled from.
func repository() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
