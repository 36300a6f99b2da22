package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// change is how a command that changes something is let do so.
type change struct {
	dryRun bool
	yes    bool
	force  bool
}

func (c *change) bind(f *pflag.FlagSet, force string) {
	f.BoolVar(&c.dryRun, "dry-run", false, "say what would be done, and do nothing")
	f.BoolVarP(&c.yes, "yes", "y", false, "do not ask for confirmation")
	if force != "" {
		f.BoolVar(&c.force, "force", false, force)
	}
}

var errNotConfirmed = errors.New("not confirmed, so nothing was changed; type yes, or give --yes")

// confirm says what is about to be done and asks, unless --yes was given. It
// reports false for --dry-run.
func (a *app) confirm(c change, what string) (bool, error) {
	switch {
	case c.dryRun:
		fmt.Fprintf(a.Err, "dry run: %s\n", what)
		return false, nil
	case c.yes:
		return true, nil
	}
	fmt.Fprintf(a.Err, "%s\nType yes to go on: ", what)
	answer, _ := bufio.NewReader(a.In).ReadString('\n') // an end without an answer is none
	if strings.TrimSpace(answer) != "yes" {
		return false, errNotConfirmed
	}
	return true, nil
}
