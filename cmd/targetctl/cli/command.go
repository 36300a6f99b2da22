package cli

import "github.com/spf13/cobra"

// Command returns all commands with their flags, for their reference. Run
// carries them out.
func Command() *cobra.Command { return (&app{}).root("", "targetctl") }
