// Command targetctl shows who owns which targets of a shared target group. It
// works on the ownership table and the load balancer alone, and needs no
// cluster. As kubectl-targetctl on the PATH it is a plugin of kubectl.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"target-ownership-controller/cmd/targetctl/cli"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, version, os.Args)
	stop()
	os.Exit(code)
}
