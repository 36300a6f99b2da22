package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// arguments are what a command takes, by the names that its usage has, in
// words that name what is missing or too much.
func arguments(required ...string) cobra.PositionalArgs { return optional(len(required), required...) }

// optional is arguments of which those from the first are all that is needed.
func optional(needed int, names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < needed:
			return fmt.Errorf("%s is missing: %s", names[len(args)], c.UseLine())
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q: %s", args[len(names)], c.UseLine())
		}
		return nil
	}
}

// subcommand refuses what is none of the command's own.
func subcommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no command %q: %s --help lists them", args[0], c.CommandPath())
	}
	return nil
}
