package cli

import (
	"fmt"
	"strings"
	"time"

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
		return fmt.Errorf("there is no command %q: %s%s --help lists them", args[0], similar(c, args[0]), c.CommandPath())
	}
	return nil
}

// similar is the commands that may have been meant.
func similar(c *cobra.Command, name string) string {
	c.SuggestionsMinimumDistance = 2 // letters, as cobra's own default
	names := c.SuggestionsFor(name)
	if len(names) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(names, " or ") + "? "
}

// notNegative refuses what a flag cannot be.
func notNegative[T int | time.Duration](flag string, n T) error {
	if n < 0 {
		return usageError{fmt.Errorf("--%s: %v is below 0", flag, n)}
	}
	return nil
}
