// Command controller keeps ELBv2 target groups that several clusters share
// in step with the Services of this cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
)

// version is set by the build.
var version = "dev"

// Exit codes: what a restart may mend, and what it cannot.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := s.flags()
	flags.SetOutput(stderr)
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "controller: %v\n", unreadable(err))
		return exitUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "controller: unexpected argument %q; write --flag=value\n", flags.Arg(0))
		return exitUsage
	case s.version:
		fmt.Fprintln(stdout, version)
		return 0
	}
	if err := s.validate(); err != nil {
		fmt.Fprintf(stderr, "controller: these flags cannot be used:\n%v\n", err)
		return exitUsage
	}
	setLogger(stderr, s.logLevel)
	if err := start(ctx, s); err != nil {
		fmt.Fprintf(stderr, "controller: %v\n", err)
		return exitFailed
	}
	return 0
}
